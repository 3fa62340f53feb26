//! Where a program is: the search along `PATH`, in two steps. The paths are made before there is a child, which may not
//! allocate; the child tries them.

use nix::errno::Errno;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;

/// The folders where there is no `PATH`, as the C library has them.
const USUAL: &str = "/bin:/usr/bin";

/// The paths that a program's name may mean, in the order of the search. A name with a slash means itself. EINVAL when the
/// name holds a NUL.
pub(crate) fn paths(name: &OsStr, path: Option<&OsStr>) -> Result<Vec<CString>, Errno> {
    let name = name.as_bytes();
    let to_text = |text: Vec<u8>| CString::new(text).map_err(|_| Errno::EINVAL);
    if name.is_empty() {
        return Ok(Vec::new());
    }
    if name.contains(&b'/') {
        return Ok(vec![to_text(name.to_vec())?]);
    }
    let folders = path.unwrap_or(OsStr::new(USUAL)).as_bytes().split(|byte| *byte == b':');
    // An empty folder is the one that this process is in.
    let in_folder =
        |folder: &[u8]| if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
    folders.map(|folder| to_text(in_folder(folder))).collect()
}

/// Tries the paths until one leads to a file that can be executed, or whose failure is its own. Returns the error of the
/// search: EACCES if only such files were found, otherwise ENOENT. It allocates nothing.
pub(crate) fn first_that_is_there(paths: &[CString], execute: impl Fn(&CStr) -> Errno) -> Errno {
    let mut error = Errno::ENOENT;
    for path in paths {
        match execute(path) {
            Errno::EACCES => error = Errno::EACCES,
            // The folder is not there, or its file system is gone.
            Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE | Errno::ENODEV | Errno::ETIMEDOUT => {}
            own => return own,
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str, path: Option<&str>) -> Vec<String> {
        let paths = paths(OsStr::new(name), path.map(OsStr::new)).unwrap();
        paths.into_iter().map(|path| path.into_string().unwrap()).collect()
    }

    #[test]
    fn a_name_is_looked_up_in_every_folder() {
        assert_eq!(names("sh", Some("/a::b/c")), ["/a/sh", "sh", "b/c/sh"]);
        assert_eq!(names("sh", Some("")), ["sh"]);
        assert_eq!(names("sh", None), ["/bin/sh", "/usr/bin/sh"]);
        assert_eq!(names("./sh", Some("/a:/b")), ["./sh"]);
        assert!(names("", Some("/a")).is_empty());
        assert_eq!(paths(OsStr::new("a\0b"), None), Err(Errno::EINVAL));
    }

    #[test]
    fn the_search_goes_on_past_what_is_no_program_there() {
        let paths = ["/1", "/2", "/3"].map(|path| CString::new(path).unwrap());
        let search = |errors: [Errno; 3]| {
            let tried = std::cell::Cell::new(0);
            let error = first_that_is_there(&paths, |path| {
                let place = tried.replace(tried.get() + 1);
                assert_eq!(path, paths[place].as_c_str());
                errors[place]
            });
            (error, tried.get())
        };
        let missing = Errno::ENOENT;
        assert_eq!(search([missing; 3]), (missing, 3));
        assert_eq!(search([Errno::ENOTDIR, Errno::EACCES, missing]), (Errno::EACCES, 3));
        assert_eq!(search([Errno::EACCES, Errno::ETXTBSY, missing]), (Errno::ETXTBSY, 2));
        assert_eq!(search([Errno::ENOEXEC, missing, missing]), (Errno::ENOEXEC, 1));
    }
}
