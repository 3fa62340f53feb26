//! Which characters the user's locale can show.

use std::borrow::Cow;
use std::ffi::OsString;

/// Text for the user: unchanged, or in ASCII if the locale is not UTF-8.
pub fn text(text: &str) -> Cow<'_, str> {
    if is_utf8(&|name| std::env::var_os(name)) { text.into() } else { report::ascii(text).into() }
}

/// POSIX: the first of these that is set and not empty decides. If none is, text is UTF-8.
fn is_utf8(variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let Some(locale) = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set) else {
        return true;
    };
    // language_COUNTRY.codeset@modifier
    let locale = locale.to_string_lossy().to_lowercase();
    let codeset = locale.split('@').next().and_then(|locale| locale.split_once('.'));
    codeset.is_some_and(|(_, codeset)| codeset.replace('-', "") == "utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let utf8 = |set: &[(&str, &str)]| {
            is_utf8(&|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        for locale in ["C.UTF-8", "en_US.utf8", "de_DE.UTF-8@euro"] {
            assert!(utf8(&[("LANG", locale)]), "{locale}");
        }
        for locale in ["C", "POSIX", "en_US", "en_US.ISO-8859-1", "de_DE@euro"] {
            assert!(!utf8(&[("LANG", locale)]), "{locale}");
        }
        assert!(!utf8(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]));
        assert!(!utf8(&[("LC_ALL", ""), ("LC_CTYPE", "C"), ("LANG", "C.UTF-8")]));
        assert!(utf8(&[("LC_CTYPE", "C.UTF-8"), ("LANG", "C")]));
        assert!(utf8(&[]));
    }
}
