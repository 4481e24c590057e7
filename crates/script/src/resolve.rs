//! The meaning of an import specifier.

use url::Url;

use crate::error::{ErrorKind, ResolveError};

/// The module that a specifier names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resolved {
    /// `k6`, `k6/…` or `brunt/…`. This crate does not know which of them exist.
    Builtin(String),
    /// The URL of a file, `file:///…` or `https://…`; it need not exist.
    Local(String),
    /// Nothing. Only on imports that may never be executed (`require()` and `import()`, perhaps
    /// inside of a test whether they work): calling [`resolve`] again tells why.
    Nowhere,
}

/// Resolves an import specifier as k6 does: built-ins, paths relative to the importing file,
/// absolute paths, `file:` and `https:` URLs; no packages, no guessed extensions.
///
/// `referrer` is the URL of the importing file. Whether the file exists is not looked at. Also of
/// use at run time, for `require()`, `import()` and `import.meta.resolve()`.
///
/// # Errors
/// `http:` addresses, package names, files for a remote module, and whatever is no URL.
pub fn resolve(specifier: &str, referrer: &str) -> Result<Resolved, ResolveError> {
    if is_builtin(specifier) {
        return Ok(Resolved::Builtin(specifier.to_owned()));
    }
    if is_path(specifier) {
        let base = Url::parse(referrer).map_err(|_| no_url(referrer))?;
        let url = base.join(specifier).map_err(|_| no_url(specifier))?;
        return Ok(Resolved::Local(named(url)));
    }
    match Url::parse(specifier) {
        Ok(url) if url.scheme() == "file" && is_remote(referrer) => Err(ResolveError {
            kind: ErrorKind::Scheme,
            message: format!("\"{specifier}\" can't be imported: {referrer} is a remote module"),
            help: "remote modules can import remote modules, but no files".to_owned(),
        }),
        Ok(url) if url.scheme() == "file" => Ok(Resolved::Local(named(url))),
        Ok(url) if url.scheme() == "https" => Ok(Resolved::Local(named(url))),
        Ok(url) => Err(foreign(specifier, url.scheme())),
        Err(_) => Err(bare(specifier)),
    }
}

/// Whether a specifier is the name of a built-in module, or would be if there were one.
pub fn is_builtin(specifier: &str) -> bool {
    specifier == "k6" || specifier.starts_with("k6/") || specifier.starts_with("brunt/")
}

/// The path of a local URL on this machine, if it has one.
pub fn path_of(url: &str) -> Option<std::path::PathBuf> {
    Url::parse(url).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

fn is_path(specifier: &str) -> bool {
    ["/", "./", "../"].iter().any(|start| specifier.starts_with(start))
        || matches!(specifier, "." | "..")
}

/// Whether a module of this URL comes over the network.
pub(crate) fn is_remote(url: &str) -> bool {
    url.starts_with("https://")
}

/// A fragment does not make another file of it, and of a file of this machine neither does a query.
fn named(mut url: Url) -> String {
    if url.scheme() == "file" {
        url.set_query(None);
    }
    url.set_fragment(None);
    url.into()
}

fn no_url(text: &str) -> ResolveError {
    ResolveError {
        kind: ErrorKind::Scheme,
        message: format!("\"{text}\" can't be understood as the place of a module"),
        help: "write a path that starts with ./, ../ or /".to_owned(),
    }
}

fn foreign(specifier: &str, scheme: &str) -> ResolveError {
    match scheme {
        "http" => ResolveError {
            kind: ErrorKind::Remote,
            message: format!("\"{specifier}\" can't be imported: remote modules need https"),
            help: "write https://, or download the file and import it by its path".to_owned(),
        },
        "node" => ResolveError {
            kind: ErrorKind::Bare,
            message: format!("\"{specifier}\" can't be imported: it belongs to Node.js"),
            help: NO_NODE.to_owned(),
        },
        _ => ResolveError {
            kind: ErrorKind::Scheme,
            message: format!("\"{specifier}\" can't be imported: only files can, not `{scheme}:`"),
            help: "write a path that starts with ./, ../ or /".to_owned(),
        },
    }
}

const NO_NODE: &str = "scripts run in an engine of their own, without Node.js and its modules";

/// Modules of Node.js that people import by their bare name.
const NODE: [&str; 16] = [
    "assert",
    "buffer",
    "child_process",
    "crypto",
    "events",
    "fs",
    "http",
    "https",
    "net",
    "os",
    "path",
    "process",
    "stream",
    "url",
    "util",
    "zlib",
];

fn bare(specifier: &str) -> ResolveError {
    let first = specifier.split('/').next().unwrap_or_default();
    let host = first.contains('.') && specifier.contains('/');
    if host {
        return ResolveError {
            kind: ErrorKind::Remote,
            message: format!("\"{specifier}\" is neither a built-in module nor a path"),
            help: format!(
                "if it is remote, write \"https://{specifier}\"; if it is a file beside the script, \"./{specifier}\""
            ),
        };
    }
    let help = if first.eq_ignore_ascii_case("k6") {
        format!("built-in modules are written in small letters: \"{}\"", specifier.to_lowercase())
    } else if NODE.contains(&first) {
        NO_NODE.to_owned()
    } else if matches!(specifier.rsplit_once('.'), Some((_, "js" | "ts" | "json"))) {
        format!("paths start with ./, ../ or /: write \"./{specifier}\"")
    } else {
        format!(
            "packages of npm can't be imported by their name: bundle \"{specifier}\" into the \
             script, or into a file beside it, and import that by its path"
        )
    };
    ResolveError {
        kind: ErrorKind::Bare,
        message: format!("\"{specifier}\" is neither a built-in module nor a path"),
        help,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(specifier: &str) -> String {
        match resolve(specifier, "file:///home/me/tests/main.js") {
            Ok(Resolved::Local(url)) => url,
            other => panic!("{specifier}: {other:?}"),
        }
    }

    fn error(specifier: &str) -> ResolveError {
        resolve(specifier, "file:///home/me/tests/main.js").expect_err(specifier)
    }

    #[test]
    fn paths_are_relative_to_the_importing_file() {
        assert_eq!(local("./a.js"), "file:///home/me/tests/a.js");
        assert_eq!(local("../lib/../a.js"), "file:///home/me/a.js");
        assert_eq!(local("/abs/a.js"), "file:///abs/a.js");
        assert_eq!(local("file:///x/./a.js"), "file:///x/a.js");
    }

    #[test]
    fn names_are_encoded_once_and_queries_fall_away() {
        assert_eq!(local("./ä b.js?v=1#top"), "file:///home/me/tests/%C3%A4%20b.js");
        assert_eq!(local("./a%20b.js"), "file:///home/me/tests/a%20b.js");
        assert_eq!(path_of("file:///x/a%20b.js"), Some("/x/a b.js".into()));
    }

    #[test]
    fn built_ins_pass_through_whether_they_exist_or_not() {
        for name in ["k6", "k6/http", "k6/x/nope", "brunt/data"] {
            assert_eq!(resolve(name, "file:///a.js"), Ok(Resolved::Builtin(name.to_owned())));
        }
        assert_eq!(error("k6chai").kind, ErrorKind::Bare);
    }

    #[test]
    fn what_remote_modules_import_is_remote() {
        let from = "https://h/lib/a.js?v=1#x";
        for (specifier, url) in [
            ("./b.js", "https://h/lib/b.js"),
            ("../b.js?w=2#y", "https://h/b.js?w=2"),
            ("/b.js", "https://h/b.js"),
            ("https://i/b.js", "https://i/b.js"),
        ] {
            assert_eq!(resolve(specifier, from), Ok(Resolved::Local(url.to_owned())));
        }
        assert_eq!(resolve("file:///etc/passwd", from).unwrap_err().kind, ErrorKind::Scheme);
    }

    #[test]
    fn what_can_not_be_imported_says_so() {
        insta::assert_snapshot!(error("http://jslib.k6.io/x.js").message,
            @r#""http://jslib.k6.io/x.js" can't be imported: remote modules need https"#);
        insta::assert_snapshot!(error("lodash").message,
            @r#""lodash" is neither a built-in module nor a path"#);
        insta::assert_snapshot!(error("utils.js").help,
            @r#"paths start with ./, ../ or /: write "./utils.js""#);
        insta::assert_snapshot!(error("data:text/javascript,1").message,
            @r#""data:text/javascript,1" can't be imported: only files can, not `data:`"#);
        assert_eq!(error("github.com/me/x.js").kind, ErrorKind::Remote);
        assert_eq!(error("node:fs").help, NO_NODE);
        assert_eq!(error("fs").help, NO_NODE);
        assert_eq!(error("").kind, ErrorKind::Bare);
        assert_eq!(error("file://[").kind, ErrorKind::Bare);
    }
}
