//! What a guest's Linux can be booted with by name, from the table.

use table::{Evidence, Parameter, ParameterValue};

/// What a parameter is, and of each value what it stands for and how a guest shows that it has it.
pub fn explain(parameter: &Parameter) -> String {
    let Parameter { name, what, .. } = parameter;
    let mut text = format!("# {name}, a parameter of guests\n\n{}.\n\n", super::capitalized(what));
    text.push_str(&format!("- Given by: `kentry linux --set {name}={}`\n", parameter.choices()));
    for value in &parameter.values {
        text.push_str(&format!("\n## {name}={}\n\n", value.name));
        text.push_str(&facts(value).concat());
    }
    text
}

/// A line for each fact of a value.
fn facts(value: &ParameterValue) -> Vec<String> {
    let given = |what: &str, fact: &str| (!fact.is_empty()).then(|| format!("- {what}: `{fact}`\n"));
    let seen: Vec<String> = value.shows.iter().map(in_words).collect();
    let shown = match seen.as_slice() {
        _ if value.kernel_chooses => {
            "- It leaves the choice to the kernel, so there is nothing to verify\n".into()
        }
        [] => "- Nothing shows whether a guest obeys it but the rows themselves\n".to_string(),
        seen => format!("- A guest that has it says: {}\n", seen.join("; ")),
    };
    let facts = [
        given("On the kernel's command line", &value.append),
        given("Added to the processor's model (QEMU)", &value.cpu),
        given("QEMU's board (-M)", value.board.as_deref().unwrap_or("")),
        value.compressed.then(|| "- Only of a kernel that unpacks itself\n".to_string()),
        value.filter.map(|filter| format!("- A seccomp filter that {}, and allows all\n", filter.what())),
        given("Also written", &value.aliases.join(", ")),
        value.since.as_ref().map(|version| format!("- Since Linux {version}\n")),
        value.until.as_ref().map(|version| format!("- Until Linux {version}\n")),
        Some(shown),
    ];
    facts.into_iter().flatten().collect()
}

fn in_words(evidence: &Evidence) -> String {
    let Evidence { field, where_has, unless, is, has, lacks, some } = evidence;
    let text = |what: &str, word: &Option<String>| word.as_ref().map(|word| format!("{what} `{word}`"));
    let of_list = some.map(|some| if some { "has something" } else { "has nothing" }.to_string());
    let all = [text("is", is), text("has", has), text("lacks", lacks), of_list];
    let all = all.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let only = where_has.as_ref().map(|word| format!(", where that has `{word}`")).unwrap_or_default();
    let unless = unless.as_ref().map(|other| format!(", unless `{other}` is given")).unwrap_or_default();
    format!("`{field}` {all}{only}{unless}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

    #[test]
    fn each_value_of_each_parameter_is_explained() {
        for parameter in &Table::get().parameters {
            let text = explain(parameter);
            for value in &parameter.values {
                assert!(text.contains(&format!("## {}={}\n\n- ", parameter.name, value.name)), "{text}");
                let is_whole = value.shows.iter().all(|shown| text.contains(&format!("`{}` ", shown.field)));
                assert!(is_whole && text.contains(&value.append), "{text}");
            }
        }
    }

    #[test]
    fn a_value_says_how_it_is_verified() {
        let of = |name: &str, value: &str| {
            facts(Table::get().parameter(name).unwrap().value(value).unwrap()).concat()
        };
        assert!(of("mitigations", "auto").contains("there is nothing to verify"));
        assert!(
            of("mitigations", "off").contains("`environment.kernel.pti` is `false`, unless `pti` is given")
        );
        assert!(of("l1tf", "off").contains("Nothing shows whether a guest obeys it"));
        let bhi = of("spectre_bhi", "on");
        assert!(bhi.contains("lacks `BHI: Vulnerable`, where that has `BHI: `"), "{bhi}");
    }
}
