//! The repository against the table: every row has its files, no file lacks its row, no stage of the pipeline knows a later
//! one, and no two modules of a folder know each other in a circle.

use crate::modules;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Kernel, Kind, Probe, Table};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names, without their ending, of the files of a folder that end so.
fn stems(folder: &str, ending: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    entries.map(name).filter_map(|name| name.strip_suffix(ending).map(str::to_string)).collect()
}

fn names(wanted: impl Fn(Probe) -> bool) -> BTreeSet<String> {
    let entries = Table::get().entries.iter().filter(|entry| wanted(entry.probe));
    entries.map(|entry| entry.name.clone()).collect()
}

#[test]
fn every_row_has_a_text_and_an_example_and_no_file_lacks_its_row() {
    assert_eq!(stems("docs/entries", ".md"), names(|_| true));
    assert_eq!(stems("docs/examples", ".S"), names(|_| true));
}

/// `explain` prints them on terminals, and by their headings.
#[test]
fn every_text_of_a_row_has_its_title_the_five_headings_and_lines_that_fit() {
    const HEADINGS: [&str; 5] =
        ["## History", "## What the hardware does", "## What Linux does", "## Registers", "## Return"];
    const COLUMNS: usize = 100;
    for name in names(|_| true) {
        let path = format!("docs/entries/{name}.md");
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("##")).collect();
        assert_eq!(text.lines().next(), Some(format!("# {name}").as_str()), "{path}");
        assert_eq!(headings, HEADINGS, "{path}");
        let wide = |(_, line): &(usize, &str)| line.chars().count() > COLUMNS;
        let wide = text.lines().enumerate().find(wide).map(|(index, _)| index + 1);
        assert_eq!(wide, None, "{path}: this line has more than {COLUMNS} columns");
    }
}

#[test]
fn every_row_that_does_not_say_its_instruction_has_an_assembler_file_and_no_file_lacks_its_row() {
    let named = Table::get().entries.iter().filter_map(|entry| entry.source_path());
    let files = ["probe/x86_64", "probe/i386"].into_iter().flat_map(|folder| {
        let mut files = stems(folder, ".S");
        // sixteen.S leads to timed code of 16 bits.
        let no_entries =
            if folder.ends_with("i386") { &["start", "stubs", "sixteen"][..] } else { &["start", "stubs"] };
        for no_entry in no_entries {
            assert!(files.remove(*no_entry), "{folder}/{no_entry}.S");
        }
        files.into_iter().map(move |name| format!("{folder}/{name}.S"))
    });
    assert_eq!(files.collect::<BTreeSet<String>>(), named.collect());
}

#[test]
fn no_assembler_file_says_what_a_row_could() {
    // More than one instruction, memory of its own, or a fresh address each time: what a row has no words for.
    let one_line = |body: &str| body.trim().lines().count() == 1;
    for path in Table::get().entries.iter().filter_map(|entry| entry.source_path()) {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        // Of 16 bits: a row has no words for that.
        if text.contains("sixteen.inc") {
            continue;
        }
        let body = |name: &str| {
            let rest = text.split_once(&format!(".macro {name}\n")).unwrap().1;
            rest.split_once(".endm").unwrap().0.to_string()
        };
        let loads_itself = !one_line(&body("LOAD")) || !body("LOAD").contains("LOAD_");
        let is_own = loads_itself || !one_line(&body("ENTER")) || text.contains(".section");
        assert!(is_own, "{path}: keys `load` and `enter` in the row would do");
    }
}

/// Files of lab/entry that are no way in: the way out to a program and to its memory; what an unknown call leads to; a
/// look at memory through a program's page tables; the switch of threads and of address spaces; ways to call and to return, and what
/// the processor may guess; what builds paths and points the CPU at them; stacks, and the pages below them; what an exception means; what comes in front of
/// a path, in rings and tasks between; descriptors of gates, the code that programs execute in their own
/// ring; a driver in ring 1.
const LAB_HELPERS: [&str; 22] = [
    "page-fault.S",
    "driver.S",
    "driver.c",
    "gates.c",
    "conforming.S",
    "dispatch.S",
    "returns.S",
    "returns.c",
    "space.S",
    "speculation.c",
    "user.S",
    "unknown.S",
    "peek.S",
    "switch.S",
    "stacks.S",
    "path.c",
    "hardware.c",
    "guard.c",
    "exception.c",
    "rings.S",
    "rings.c",
    "task-nested.S",
];

#[test]
fn every_entry_of_the_lab_has_its_file_and_no_file_lacks_its_entry() {
    let named: BTreeSet<String> = Table::get().entries.iter().filter_map(|entry| entry.lab.clone()).collect();
    let folders = ["lab/entry", "lab/i386/entry"].into_iter();
    let files = folders.flat_map(|folder| [".S", ".c"].map(|ending| (folder, ending))).flat_map(
        |(folder, ending)| {
            let own = move |stem: &String| !LAB_HELPERS.contains(&format!("{stem}{ending}").as_str());
            stems(folder, ending).into_iter().filter(own)
        },
    );
    assert_eq!(files.collect::<BTreeSet<String>>(), named);
}

#[test]
fn what_one_kernel_alone_has_is_said_in_its_text() {
    for entry in &Table::get().entries {
        let text = std::fs::read_to_string(root().join(format!("docs/entries/{}.md", entry.name))).unwrap();
        let is_everywhere = [Kernel::Linux, Kernel::Lab].iter().all(|kernel| entry.kernels.contains(kernel));
        let differs = !is_everywhere || entry.lab_operations.is_some();
        let words: Vec<&str> = text.split_whitespace().collect();
        let names_lab = ["`kentry lab`", "`kentry lab --lab-kernel i386`"]
            .iter()
            .any(|name| words.join(" ").contains(name));
        assert!(!differs || names_lab, "docs/entries/{}.md", entry.name);
    }
}

/// The sentences under a heading of a row's text.
fn sentences(name: &str, heading: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(format!("docs/entries/{name}.md"))).unwrap();
    let behind = text.split_once(&format!("\n## {heading}\n")).unwrap().1;
    let section = behind.split("\n## ").next().unwrap();
    let words = section.split_whitespace().collect::<Vec<_>>().join(" ");
    words.split_inclusive(". ").map(str::to_owned).collect()
}

/// Whether a row's history has a sentence about something, or one that leads to another row's.
fn tells(name: &str, word: &str) -> Result<(), String> {
    const SHORTEST: usize = 5;
    let has_it =
        |sentence: &&String| sentence.split(|letter: char| !letter.is_alphanumeric()).any(|one| one == word);
    let history = sentences(name, "History");
    let said: Vec<&String> = history.iter().filter(has_it).collect();
    if !said.iter().any(|sentence| sentence.split(' ').count() >= SHORTEST) {
        return Err(format!("no sentence of the history says it: {said:?}"));
    }
    let named = said.iter().flat_map(|sentence| sentence.split('`').skip(1).step_by(2));
    let others = named.filter(|other| *other != name && Table::get().entry(other).is_some());
    let silent = others.filter(|other| !sentences(other, "History").iter().any(|one| has_it(&one)));
    match silent.collect::<Vec<_>>().as_slice() {
        [] => Ok(()),
        silent => Err(format!("it leads to {silent:?}, which do not")),
    }
}

/// Steps that hold in one mode alone are false in the other kernel. What a stub or a reader of memory leads to has a row of its own.
#[test]
fn a_text_of_the_lab_in_protected_mode_speaks_of_its_modes_and_of_what_came_and_would_have_come_later() {
    let enters = |entry: &&table::Entry| {
        entry.kernels.contains(&Kernel::LabI386) && !matches!(entry.kind, Kind::Function | Kind::Memory)
    };
    let mut shared = 0;
    for entry in Table::get().entries.iter().filter(enters) {
        let path = format!("docs/entries/{}.md", entry.name);
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let says = |word: &str| words.contains(word);
        for feature in ["FRED", "x86S"] {
            assert_eq!(tells(&entry.name, feature), Ok(()), "{path}: what does {feature} change?");
        }
        if entry.kernels.contains(&Kernel::Lab) {
            shared += 1;
            // AMD's manual says legacy mode for what the instructions of its own have outside of long mode.
            let is_protected = says("protected mode") || says("legacy mode");
            assert!(is_protected && says("long mode"), "{path}: what differs in the other kernel's mode?");
        }
    }
    assert!(shared >= 12, "{shared}");
}

/// The C and assembler files of a folder.
fn sources(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "c" || kind == "S"))
}

/// Compiles the 64-bit probe for a table; the compiler's complaints when that fails.
fn compile(table: &Table) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("entries.h"), table::header::render(table, Probe::Probe64)).unwrap();
    let mut made = Vec::new();
    for entry in table.entries.iter().filter(|entry| entry.probe == Probe::Probe64) {
        let Some(text) = table::source::render(table, entry) else { continue };
        made.push(folder.path().join(format!("{}.S", entry.name)));
        std::fs::write(&made[made.len() - 1], text).unwrap();
    }
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler)
        .args(["-O1", "-ffreestanding", "-nostdlib", "-fno-pic", "-no-pie", "-static", "-mgeneral-regs-only"])
        .args(["-fno-stack-protector", "-fno-builtin", "-w", "-idirafter", "/usr/include/x86_64-linux-gnu"])
        .args(["abi", "probe", "probe/x86_64"].iter().flat_map(|i| ["-I".into(), root().join(i)]))
        .arg("-I")
        .arg(folder.path())
        .args(sources("probe").chain(sources("probe/x86_64")).chain(made))
        .arg("-o")
        .arg(folder.path().join("probe"))
        .output()
        .unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn a_row_without_its_file_does_not_build() {
    assert_eq!(compile(Table::get()), Ok(()));
    let row = "\n[[entry]]\nid = 999\nname = \"teleport\"\ntitle = \"no such thing\"\ngroup = \"64-bit\"\n\
               probe = \"probe64\"\nkind = \"instruction\"\nclobbers = []\noperations = [\"none\"]\n";
    let with = |more: &str| compile(&Table::parse(&format!("{}{row}{more}", table::SOURCE)).unwrap());
    let complaint = with("").unwrap_err();
    assert!(complaint.contains("teleport_timed"), "{complaint}");
    assert_eq!(with("load = \"none\"\nenter = \"nop\"\n"), Ok(()), "the row says it all");
    assert!(with("load = \"none\"\nenter = \"teleport\"\n").unwrap_err().contains("teleport"));
}

/// A layer of the program.
struct Layer {
    name: &'static str,
    /// Its crates, each of which may know those before it.
    crates: &'static [&'static str],
    /// The layers below that it may know.
    knows: &'static [&'static str],
    /// What it is, for ARCHITECTURE.md.
    what: &'static str,
}

/// From the bottom to the top. Judges and reports know no place: whatever a figure was measured on has become facts and records by then.
const LAYERS: [Layer; 8] = [
    Layer { name: "table", crates: &["table"], knows: &[], what: "what there is to measure" },
    Layer {
        name: "wire",
        crates: &["process", "record", "simulator"],
        knows: &[],
        what: "what comes out of a child or a guest",
    },
    Layer {
        name: "machine",
        crates: &["environment", "examine", "linux", "layers", "observe"],
        knows: &["wire"],
        what: "facts about machines, kernels and processes",
    },
    Layer {
        name: "places",
        crates: &["places"],
        knows: &["table", "wire", "machine"],
        what: "where probes run",
    },
    Layer {
        name: "judges",
        crates: &[
            "stats",
            "document",
            "runs",
            "summary",
            "fleet",
            "compare",
            "findings",
            "attribution",
            "oracle",
        ],
        knows: &["table", "wire", "machine"],
        what: "what records say; pure, but for the folder of kept runs",
    },
    Layer {
        name: "reports",
        crates: &["report"],
        knows: &["table", "wire", "machine", "judges"],
        what: "bytes for people and programs, pure",
    },
    Layer {
        name: "measuring",
        crates: &["measure"],
        knows: &["table", "wire", "machine", "places", "judges"],
        what: "plans, runs and CPUs: records of places into documents",
    },
    Layer {
        name: "command",
        crates: &["kentry"],
        knows: &["table", "wire", "machine", "places", "judges", "reports", "measuring"],
        what: "arguments in, a call, bytes out",
    },
];

/// A crate's layer, and its place in it.
fn place(name: &str) -> Option<(&'static Layer, usize)> {
    LAYERS.iter().find_map(|layer| Some((layer, layer.crates.iter().position(|own| *own == name)?)))
}

/// What a crate depends on, for its tests and its build too, that its layer does not allow.
fn breaches(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap();
    let (layer, own) = place(name).unwrap_or_else(|| panic!("{name} is in no layer"));
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    // A crate that asks itself for what its tests need knows nobody else by that.
    let known =
        dependencies.filter_map(|dependency| dependency["name"].as_str()).filter(|other| *other != name);
    let is_wrong = |other: &&str| {
        place(other).is_some_and(|(other, at)| {
            if other.name == layer.name { at >= own } else { !layer.knows.contains(&other.name) }
        })
    };
    known.filter(is_wrong).map(|other| format!("{name} ({}) knows {other}", layer.name)).collect()
}

#[test]
fn no_crate_knows_a_layer_that_it_may_not_know() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // What tries parsers may know all of them.
    let is_shipped = |package: &&Value| package["name"] != "fuzz";
    let packages: Vec<&Value> = metadata["packages"].as_array().unwrap().iter().filter(is_shipped).collect();
    assert_eq!(packages.iter().copied().flat_map(breaches).collect::<Vec<_>>(), Vec::<String>::new());
    let count: usize = LAYERS.iter().map(|layer| layer.crates.len()).sum();
    assert_eq!((packages.len(), stems("crates", "").len()), (count, count));
}

#[test]
fn the_architecture_has_the_layers_as_they_are_here() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let list = |words: &[&str]| words.join(", ");
    let row = |layer: &Layer| {
        format!("| {} | {} | {} | {} |\n", layer.name, list(layer.crates), layer.what, list(layer.knows))
    };
    let wanted: String = LAYERS.iter().map(row).collect();
    assert!(text.contains(&wanted), "in ARCHITECTURE.md these lines should stand:\n{wanted}");
    for name in LAYERS.iter().flat_map(|layer| layer.crates) {
        let has = |after| text.contains(&format!("| `crates/{name}{after}"));
        assert!(has('`') || has('/'), "the table of places lacks {name}");
    }
}

/// The source files below a folder, with their paths from there.
fn files(folder: &Path, path: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder.join(path)).unwrap().map(|entry| entry.unwrap());
    let each = entries.flat_map(|entry| {
        let path = path.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => files(folder, &path),
            false => vec![(path.clone(), std::fs::read_to_string(folder.join(&path)).unwrap())],
        }
    });
    each.filter(|(path, _)| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

#[test]
fn no_two_modules_of_a_crate_know_each_other_in_a_circle() {
    let of_crate = |name: &String| {
        let files = files(&root().join("crates").join(name).join("src"), Path::new(""));
        assert!(!files.is_empty(), "{name}");
        modules::circles(&files).into_iter().map(|circle| format!("{name}: {circle}")).collect::<Vec<_>>()
    };
    let circles: Vec<String> = stems("crates", "").iter().flat_map(of_crate).collect();
    assert_eq!(
        circles,
        Vec::<String>::new(),
        "move what both know to the module that owns it, or to one of its own"
    );
}

#[test]
fn a_circle_is_found_however_it_is_written_and_tests_may_be_in_one() {
    let of = |texts: &[(&str, &str)]| {
        modules::circles(
            &texts.iter().map(|(path, text)| (path.into(), text.to_string())).collect::<Vec<_>>(),
        )
    };
    for (one, other) in [
        ("use crate::b::B;", "use crate::{a::A, c};"),
        ("fn a() { crate::b::b() }", "use super::a::A;"),
        ("use crate::{Style, b};", "pub fn b(a: crate::A) {}"),
        ("use crate::{\n    c::{D, E},\n    b::F,\n};", "use crate::Renamed;"),
    ] {
        let root = "mod a;\nmod b;\nmod c;\n\npub use a::{A, Other as Renamed};\n";
        let files =
            [("lib.rs", root), ("a.rs", one), ("b/mod.rs", "mod deep;"), ("b/deep.rs", "use crate::a::A;")];
        assert_eq!(of(&files), ["a → b → a"], "{one}");
        assert_eq!(
            of(&[("lib.rs", root), ("a.rs", one), ("b.rs", other), ("c.rs", "")]),
            ["a → b → a"],
            "{other}"
        );
    }
    let three = [("a.rs", "use crate::b;"), ("b.rs", "use crate::c;"), ("c.rs", "use crate::a;")];
    assert_eq!(of(&three), ["a → b → c → a"]);
    let knows_a = "use crate::a::A;";
    for harmless in [
        "//! As [`crate::b`].",
        "use b::B; // crate::b",
        "#[cfg(test)]\nmod tests {\n    use crate::b;\n}",
        "#[cfg(test)]\n#[path = \"b.rs\"]\nmod other;\n",
        "use other_crate::b;",
        "mod b {\n    use super::b;\n}\nuse crate::a::b::C;",
    ] {
        assert_eq!(of(&[("a/x.rs", harmless), ("b.rs", knows_a)]), Vec::<String>::new(), "{harmless}");
    }
    let behind_tests = "#[cfg(test)]\nfn a() {\n    b()\n}\n\nuse crate::b;";
    assert_eq!(of(&[("a.rs", behind_tests), ("b.rs", knows_a)]), ["a → b → a"]);
}

/// The schema of a field of run documents, `environment.kernel.pti`; none where there is no such field.
fn schema_of<'s>(whole: &'s Value, field: &str) -> Option<&'s Value> {
    fn resolved<'s>(whole: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
        while let Some(reference) = schema["$ref"].as_str() {
            schema = whole.pointer(reference.strip_prefix('#')?)?;
        }
        Some(schema)
    }
    field.split('.').try_fold(whole, |schema, name| {
        let below = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
        resolved(whole, below.filter(|below| below.is_object())?)
    })
}

/// The faults whose state Linux reports, by their files (Documentation/ABI/testing/sysfs-devices-system-cpu). The schema has no list:
/// a later Linux may report another.
const FAULTS: [&str; 19] = [
    "gather_data_sampling",
    "ghostwrite",
    "indirect_target_selection",
    "itlb_multihit",
    "l1tf",
    "mds",
    "meltdown",
    "mmio_stale_data",
    "old_microcode",
    "reg_file_data_sampling",
    "retbleed",
    "spec_rstack_overflow",
    "spec_store_bypass",
    "spectre_v1",
    "spectre_v2",
    "srbds",
    "tsa",
    "tsx_async_abort",
    "vmscape",
];

#[test]
fn every_fault_that_linux_reports_is_explained() {
    for fault in FAULTS {
        assert!(kentry::explain::Explained::of(Table::get(), fault).is_ok(), "{fault}");
    }
}

/// Whether a field may be of one of these types.
fn may_be(schema: &Value, types: &[&str]) -> bool {
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let named = schema["type"].as_str().into_iter();
    let mut named = named.chain(schema["type"].as_array().into_iter().flatten().filter_map(Value::as_str));
    named.any(|name| types.contains(&name))
        || (schema.get("enum").is_some() && types.contains(&"string"))
        || alternatives.into_iter().any(|one| may_be(one, types))
}

/// A guest that says nothing of a field contradicts nothing: a misspelled field would be a check that cannot fail.
#[test]
fn every_parameters_evidence_is_a_field_of_run_documents_of_a_fitting_type() {
    let schema = std::fs::read_to_string(root().join("docs/run.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let values = Table::get().parameters.iter().flat_map(|parameter| &parameter.values);
    let evidence: Vec<&table::Evidence> = values.flat_map(|value| &value.shows).collect();
    assert!(evidence.len() > 20, "{}", evidence.len());
    for one in evidence {
        let found =
            schema_of(&schema, &one.field).unwrap_or_else(|| panic!("there is no field {}", one.field));
        let is_text = one.is.is_none() || may_be(found, &["string", "boolean", "number", "integer"]);
        let has_words = one.has.is_none() && one.lacks.is_none() || may_be(found, &["string", "array"]);
        let is_list = one.some.is_none() || may_be(found, &["array"]);
        assert!(is_text && has_words && is_list, "{one:?}: {found}");
        let fault = one.field.strip_prefix("environment.mitigations.");
        assert!(fault.is_none_or(|fault| FAULTS.contains(&fault)), "Linux reports no fault {fault:?}");
    }
    assert!(schema_of(&schema, "environment.kernel.ptii").is_none());
    assert!(!may_be(schema_of(&schema, "environment.kernel.pti").unwrap(), &["array", "string"]));
}
