//! Sections of the documentation.

/// The text below a heading, the heading included, to the next one that is not below it.
pub fn of(text: &str, heading: &str) -> Option<String> {
    // A line of text may begin with #CP.
    let depth = |line: &str| {
        line.split(' ').next().filter(|word| word.bytes().all(|byte| byte == b'#')).map(str::len)
    };
    let own = depth(heading)?;
    let is_end = |line: &str| depth(line).is_some_and(|depth| (1..=own).contains(&depth));
    let mut lines = text.lines().skip_while(|line| *line != heading);
    let first = lines.next()?;
    let rest: Vec<&str> = lines.take_while(|line| !is_end(line)).collect();
    Some(format!("{first}\n{}\n", rest.join("\n").trim_end()))
}

/// The same without the heading.
pub fn below(text: &str, heading: &str) -> Option<String> {
    let section = of(text, heading)?;
    Some(section.split_once('\n')?.1.trim_start().to_string())
}
