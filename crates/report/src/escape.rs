//! Text from outside in Markdown.

use crate::plain::plain;

/// A name in code type, unless it could end that.
pub(crate) fn code(name: &str) -> String {
    let name = plain(name);
    if name.is_empty() || name.contains(['`', '|', '\\']) { escaped(&name) } else { format!("`{name}`") }
}

/// Nothing, between two characters of which GitHub would otherwise make a link, whatever is escaped.
const NO_LINK: &str = "<!-- -->";

/// Text that Markdown shows as it is, without links, mentions and mail addresses. An underscore inside a word means nothing and stays readable.
pub(crate) fn escaped(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        if "\\`*[]<>|~&#$".contains(c) || (c == '_' && !in_word) {
            out.push('\\');
        }
        out.push(c);
        before = c;
        if c == '@' && rest.peek().is_some_and(|next| next.is_alphanumeric()) {
            out.push_str(NO_LINK);
        }
    }
    out.replace("://", &format!(":{NO_LINK}//")).replace("www.", &format!("www{NO_LINK}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_mentioned_and_nothing_becomes_a_link() {
        assert_eq!(
            escaped("@who a@b.c CPU @ 2 GHz https://x www.x"),
            "@<!-- -->who a@<!-- -->b.c CPU @ 2 GHz https:<!-- -->//x www<!-- -->.x"
        );
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            escaped("a|b <script> **x** CONFIG_X86_X32_ABI _em_ `c` &amp;"),
            r"a\|b \<script\> \*\*x\*\* CONFIG_X86_X32_ABI \_em\_ \`c\` \&amp;"
        );
        assert_eq!(code("clock_gettime-monotonic"), "`clock_gettime-monotonic`");
        assert_eq!(code("a`b|c\n"), r"a\`b\|c ");
    }
}
