//! A command that a probe runs under, and where the probe stands in it.

/// The probe with its arguments: as words of their own, or, within a longer word and after `-c`, as text for a shell.
pub const PROBE: &str = "{}";

/// The path of the probe's file, without arguments.
pub const FILE: &str = "{file}";

/// The last two parts of that path, for a command that sees the file under another path.
pub const NAME: &str = "{name}";

/// Variables that the dynamic loader alone reads, which static programs do not have.
const OF_THE_LOADER: [&str; 4] = ["LD_PRELOAD=", "LD_AUDIT=", "LD_LIBRARY_PATH=", "GLIBC_TUNABLES="];

/// A command that probes run under. Without words, the probe is executed as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrapper {
    /// What it adds to the environment, `NAME=value`.
    pub environment: Vec<String>,
    /// Its words, with [`PROBE`], [`FILE`] and [`NAME`] in them.
    pub words: Vec<String>,
}

impl Wrapper {
    /// What to execute for a probe: the program and its arguments. `name` is a part of `path`. What the command does not mention is
    /// appended: the probe, or, where it has the probe's path, the probe's arguments.
    pub fn command(&self, path: &str, name: &str, arguments: &[String]) -> Vec<String> {
        let probe = || std::iter::once(path.to_string()).chain(arguments.iter().cloned());
        let (mut out, mut after_c) = (Vec::new(), false);
        for word in &self.words {
            if word == PROBE && !after_c {
                out.extend(probe());
            } else {
                let text = word.replace(PROBE, &shell_text(probe()));
                out.push(text.replace(FILE, path).replace(NAME, name));
            }
            after_c = word == "-c";
        }
        let mentions = |what: &str| self.words.iter().any(|word| word.contains(what));
        match (mentions(PROBE), mentions(FILE) || mentions(NAME)) {
            (true, _) => {}
            (false, true) => out.extend_from_slice(arguments),
            (false, false) => out.extend(probe()),
        }
        out
    }

    /// What it is called in messages: its program, or nothing where it has none.
    pub fn program(&self) -> Option<&str> {
        self.words.first().map(String::as_str).filter(|word| !word.contains(PROBE))
    }

    /// The variable in it, if there is one, that reaches dynamically linked programs alone.
    pub fn loader_variable(&self) -> Option<&'static str> {
        let words = || self.environment.iter().chain(&self.words);
        let is_there = |variable: &&str| words().any(|word| word.contains(*variable));
        OF_THE_LOADER.into_iter().find(is_there).map(|variable| variable.trim_end_matches('='))
    }
}

/// Words as a shell takes them.
fn shell_text(words: impl Iterator<Item = String>) -> String {
    // A NUL cannot be in a path or in a number.
    let quoted =
        |word: String| shlex::try_quote(&word).map_or_else(|_| word.clone(), |text| text.into_owned());
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command for a probe with two arguments, its words joined by `|`.
    fn command(words: &[&str]) -> String {
        let words = words.iter().map(|word| word.to_string()).collect();
        let wrapper = Wrapper { environment: Vec::new(), words };
        wrapper.command("/tmp/k e/probe64", "k e/probe64", &["1".into(), "2".into()]).join("|")
    }

    #[test]
    fn the_probe_stands_where_the_command_says_or_at_its_end() {
        assert_eq!(command(&[]), "/tmp/k e/probe64|1|2");
        assert_eq!(command(&["{}"]), "/tmp/k e/probe64|1|2");
        assert_eq!(command(&["strace", "-f"]), "strace|-f|/tmp/k e/probe64|1|2");
        assert_eq!(command(&["env", "{}", "--"]), "env|/tmp/k e/probe64|1|2|--");
    }

    #[test]
    fn a_shell_gets_the_probe_as_text() {
        assert_eq!(command(&["sh", "-c", "nice {}; true"]), "sh|-c|nice '/tmp/k e/probe64' 1 2; true");
        assert_eq!(command(&["sh", "-c", "{}"]), "sh|-c|'/tmp/k e/probe64' 1 2");
        assert_eq!(command(&["taskset", "-c", "0", "{}"]), "taskset|-c|0|/tmp/k e/probe64|1|2");
    }

    #[test]
    fn a_container_gets_the_file_and_the_arguments_apart() {
        let docker = ["docker", "run", "-v", "{file}:/probe", "debian", "/probe"];
        assert_eq!(command(&docker), "docker|run|-v|/tmp/k e/probe64:/probe|debian|/probe|1|2");
        assert_eq!(command(&["chroot", "/jail", "/tmp/{name}"]), "chroot|/jail|/tmp/k e/probe64|1|2");
    }

    #[test]
    fn what_only_the_loader_reads_is_found() {
        let of = |words: &[&str], environment: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
            Wrapper { environment: texts(environment), words: texts(words) }.loader_variable()
        };
        assert_eq!(of(&["env", "LD_PRELOAD=./a.so"], &[]), Some("LD_PRELOAD"));
        assert_eq!(of(&[], &["GLIBC_TUNABLES=a=b"]), Some("GLIBC_TUNABLES"));
        assert_eq!(of(&["strace", "-f"], &["A=b"]), None);
    }
}
