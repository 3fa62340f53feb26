//! Which modules of a crate know which, by its files. Of every folder of modules, those in it must not know each other in a circle; what
//! holds them (`lib.rs`, `main.rs`, `mod.rs`) knows them all, and gives them names of its own, which count as those whom they are of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree};

/// A module, or an item in one: names from the crate's root on.
type Names = Vec<String>;

/// Of each module of a folder, the others in it that it names.
type Known<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

/// The circles of a crate's modules, each written `folder::a → b → a`, by its files: paths below `src`, and what is in them.
pub fn circles(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut found = Found::default();
    found.modules.insert(Names::new());
    for (path, text) in files {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        found.module = module(path);
        found.modules.insert(found.module.clone());
        found.visit_file(&file);
    }
    let known = found.modules.iter().map(|folder| (folder, known(&found, folder)));
    known.flat_map(|(folder, known)| of_folder(folder, &known)).collect()
}

/// The module whose file this is; none of its names for the root.
fn module(path: &Path) -> Names {
    let stem = path.with_extension("");
    let mut names: Names = stem.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        names.pop();
    }
    names
}

fn known<'f>(found: &'f Found, folder: &Names) -> Known<'f> {
    let below = |names: &'f Names| names.strip_prefix(folder.as_slice())?.first().map(String::as_str);
    let mut known = Known::new();
    for (from, named) in &found.named {
        let Some(owner) = found.owner(named) else { continue };
        if let (Some(one), Some(other)) = (below(from), below(owner))
            && one != other
        {
            known.entry(one).or_default().insert(other);
        }
    }
    known
}

fn of_folder(folder: &Names, known: &Known) -> Vec<String> {
    let circles = known.keys().filter_map(|module| circle(known, module));
    // Each of its modules finds it.
    let by_modules: BTreeMap<BTreeSet<&str>, Vec<&str>> =
        circles.map(|circle| (circle.iter().copied().collect(), circle)).rev().collect();
    let place = folder.iter().map(|name| format!("{name}::")).collect::<String>();
    by_modules.into_values().map(|circle| format!("{place}{}", circle.join(" → "))).collect()
}

/// The shortest way from a module back to itself.
fn circle<'k>(known: &'k Known, start: &'k str) -> Option<Vec<&'k str>> {
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in known.get(way.last()?).into_iter().flatten() {
                let further = [way.as_slice(), &[*next]].concat();
                if *next == start {
                    return Some(further);
                }
                if seen.insert(next) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}

/// What a crate's files say of its modules, without what is compiled for tests alone.
#[derive(Default)]
struct Found {
    /// The module that is being read.
    module: Names,
    modules: BTreeSet<Names>,
    /// A module, and what it names of its crate.
    named: BTreeSet<(Names, Names)>,
    /// What a module calls an item of another, and that item.
    reexported: BTreeMap<Names, Names>,
}

impl Found {
    /// The module that has what is named, wherever it is named from.
    fn owner(&self, named: &Names) -> Option<&Names> {
        let mut named = named;
        // A name may be passed on several times; more often than this, in a circle.
        for _ in 0..8 {
            let mut names = (1..=named.len()).map(|end| &named[..end]);
            let aliased =
                names.find(|name| !self.modules.contains(*name) && self.reexported.contains_key(*name));
            let aliased = aliased.and_then(|name| self.reexported.get(name));
            match aliased {
                Some(item) if item != named => named = item,
                _ => break,
            }
        }
        (0..=named.len()).rev().find_map(|end| self.modules.get(&named[..end]))
    }

    /// A path as names from the crate's root on; none where it is of another crate.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let mut names = self.module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => names.clear(),
            "self" => {}
            "super" => {
                while let Some((first, others)) = rest.split_first()
                    && first == "super"
                {
                    names.pop();
                    rest = others;
                }
                return Some([names.as_slice(), rest].concat());
            }
            first => {
                names.push(first.to_string());
                return self.modules.contains(&names).then(|| [names.as_slice(), &path[1..]].concat());
            }
        }
        Some([names.as_slice(), &rest[1..]].concat())
    }

    fn name(&mut self, path: &[String]) {
        if let Some(named) = self.absolute(path) {
            self.named.insert((self.module.clone(), named));
        }
    }

    /// Each path of a `use`, and what it is called from then on; of a glob, the module.
    fn of_use(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.of_use(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.alias(&with(&name.ident), &name.ident),
            UseTree::Rename(renamed) => self.alias(&with(&renamed.ident), &renamed.rename),
            UseTree::Glob(_) => self.name(before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.of_use(before, tree)),
        }
    }

    fn alias(&mut self, path: &[String], name: &syn::Ident) {
        self.name(path);
        // A child of the module may not have been read yet, so that a path that begins with its name is taken for one.
        let item = self.absolute(path).unwrap_or_else(|| [self.module.as_slice(), path].concat());
        let alias = [self.module.as_slice(), &[name.to_string()]].concat();
        self.reexported.insert(alias, item);
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    };
    attributes.iter().any(is_test)
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(item) => item.attrs.as_slice(),
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        self.modules.insert(self.module.clone());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.of_use(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.name(&names);
        }
        visit::visit_path(self, path);
    }

    /// What a macro is given has no structure of Rust's: paths in it are found by their words.
    fn visit_macro(&mut self, makes: &'ast Macro) {
        self.visit_path(&makes.path);
        let text = makes.tokens.to_string().replace(" :: ", "::");
        let words = text.split(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
        for word in words.filter(|word| word.contains("::") && !word.starts_with(':')) {
            let names: Names = word.split("::").map(str::to_string).collect();
            self.name(&names);
        }
    }
}
