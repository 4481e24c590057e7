//! Paths without the names of people.

use std::path::{Component, Path, PathBuf};

/// The folders in which systems keep their users' homes.
const HOMES: [&str; 3] = ["home", "Users", "Documents and Settings"];

/// The path with the user of a home directory called `nobody`, as archives have it: `/home/me/a.js` is
/// `/home/nobody/a.js`.
pub(crate) fn anonymous(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    let mut named: Vec<&str> = Vec::new();
    for component in path.components() {
        let text = component.as_os_str().to_str().unwrap_or_default();
        let is_user = match named.as_slice() {
            [home] => HOMES.contains(home),
            [drive, home] => drive.ends_with(':') && HOMES.contains(home),
            _ => false,
        };
        if matches!(component, Component::Normal(_)) {
            named.push(text);
        }
        out.push(if is_user { "nobody".as_ref() } else { component.as_os_str() });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_become_nobody() {
        let shown = |path: &str| anonymous(Path::new(path)).display().to_string();
        assert_eq!(shown("/home/me/t/a.js"), "/home/nobody/t/a.js");
        assert_eq!(shown("/Users/me"), "/Users/nobody");
        assert_eq!(shown("/C:/Users/me/a.js"), "/C:/Users/nobody/a.js");
        assert_eq!(shown("/srv/home/me/a.js"), "/srv/home/me/a.js");
        assert_eq!(shown("/home"), "/home");
    }
}
