//! Libraries of `https://jslib.k6.io` that need no download: our own, written from their documentation, under the
//! addresses of the originals. Each is a file of JavaScript that imports k6's modules and nothing else.

/// A library: its name, the versions that this file replaces, and its text.
struct Library {
    name: &'static str,
    /// Versions whose scripts this text serves; none if it serves all.
    versions: &'static [&'static str],
    text: &'static str,
}

const HOST: &str = "https://jslib.k6.io/";

/// The first that fits is taken.
const LIBRARIES: &[Library] = &[
    // The first version knows no texts.
    Library {
        name: "formdata",
        versions: &["0.0.1"],
        text: include_str!("jslib/formdata-first.js"),
    },
    Library { name: "formdata", versions: &[], text: include_str!("jslib/formdata.js") },
    Library {
        name: "k6-utils",
        versions: &["1.0.0", "1.1.0"],
        text: concat!(include_str!("jslib/k6-utils.js"), "\ndialect.nothing = '';\n"),
    },
    Library {
        name: "k6-utils",
        versions: &["1.2.0", "1.3.0", "1.4.0"],
        text: include_str!("jslib/k6-utils.js"),
    },
    // Since then with `check`.
    Library {
        name: "k6-utils",
        versions: &["1.5.0", "1.6.0"],
        text: concat!(include_str!("jslib/k6-utils.js"), include_str!("jslib/k6-utils-check.js")),
    },
    Library {
        name: "k6-summary",
        versions: &["0.0.1", "0.0.2"],
        text: concat!(
            include_str!("jslib/k6-summary.js"),
            include_str!("jslib/k6-summary-first.js")
        ),
    },
    Library {
        name: "k6-summary",
        versions: &["0.0.3"],
        text: concat!(
            include_str!("jslib/k6-summary.js"),
            include_str!("jslib/k6-summary-third.js")
        ),
    },
    Library {
        name: "k6-summary",
        versions: &["0.0.4"],
        text: concat!(
            include_str!("jslib/k6-summary.js"),
            include_str!("jslib/k6-summary-fourth.js")
        ),
    },
    Library { name: "k6-summary", versions: &["0.1.0"], text: include_str!("jslib/k6-summary.js") },
    Library {
        name: "k6chaijs",
        versions: &["4.3.4.0", "4.3.4.1", "4.3.4.2", "4.3.4.3"],
        text: include_str!("jslib/k6chaijs.js"),
    },
    // Later versions of chai show values in another way.
    Library {
        name: "k6chaijs",
        versions: &["4.5.0.0", "4.5.0.1"],
        text: concat!(
            include_str!("jslib/k6chaijs.js"),
            "\nstyle.isModern = true;\nstyle.version = '4.5.0';\n"
        ),
    },
    Library {
        name: "httpx",
        versions: &["0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.0.5"],
        text: concat!(
            include_str!("jslib/httpx.js"),
            "\ndialect.isStrict = false;\ndialect.keepsWholeAddresses = false;\n"
        ),
    },
    Library {
        name: "httpx",
        versions: &["0.0.6"],
        text: concat!(include_str!("jslib/httpx.js"), "\ndialect.isStrict = false;\n"),
    },
    Library { name: "httpx", versions: &["0.1.0"], text: include_str!("jslib/httpx.js") },
    // In the first versions a soft expectation throws.
    Library {
        name: "k6-testing",
        versions: &["0.1.0", "0.2.0", "0.3.0", "0.4.0"],
        text: concat!(include_str!("jslib/k6-testing.js"), "\nDEFAULTS.softMode = 'throw';\n"),
    },
    Library {
        name: "k6-testing",
        versions: &["0.5.0", "0.6.0", "0.6.1"],
        text: include_str!("jslib/k6-testing.js"),
    },
    Library { name: "papaparse", versions: &["5.1.1"], text: include_str!("jslib/papaparse.js") },
    Library { name: "url", versions: &["1.0.0"], text: include_str!("jslib/url.js") },
    Library { name: "totp", versions: &["1.0.0"], text: include_str!("jslib/totp.js") },
];

/// The text of the library at this address, if it is built in. A query behind `?` does not count.
pub fn source(url: &str) -> Option<&'static str> {
    let path = url.strip_prefix(HOST)?.split(['?', '#']).next()?;
    let (name, rest) = path.split_once('/')?;
    let version = rest.strip_suffix("/index.js").filter(|version| !version.contains('/'))?;
    let fits = |library: &&Library| {
        library.name == name && (library.versions.is_empty() || library.versions.contains(&version))
    };
    LIBRARIES.iter().find(fits).map(|library| library.text)
}

/// The address of each library, in the newest of the versions that its text serves.
pub fn addresses() -> impl Iterator<Item = String> {
    LIBRARIES.iter().map(|library| {
        let newest = library.versions.last().copied().unwrap_or("0.0.2");
        format!("{HOST}{}/{newest}/index.js", library.name)
    })
}

/// Whether it is an address of jslib, whose libraries are worth a hint.
pub fn is_of_jslib(url: &str) -> bool {
    url.starts_with(HOST)
}

/// Which are built in, to be read by people: `formdata, httpx 0.0.1-0.1.0, …`.
pub fn known() -> String {
    let mut known: Vec<String> = Vec::new();
    let mut last = "";
    for library in LIBRARIES {
        if library.name == last {
            // Only the newest of its versions is missing in what was said.
            if let (Some(said), Some(newest)) = (known.last_mut(), library.versions.last()) {
                let first = said.split('-').next_back().map_or(0, str::len);
                said.truncate(said.len() - first);
                said.push_str(newest);
            } else if let Some(said) = known.last_mut() {
                library.name.clone_into(said);
            }
            continue;
        }
        last = library.name;
        known.push(match (library.versions.first(), library.versions.last()) {
            (Some(first), Some(newest)) if first != newest => {
                format!("{last} {first}-{newest}")
            }
            (Some(only), _) => format!("{last} {only}"),
            _ => last.to_owned(),
        });
    }
    known.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_addresses() {
        for known in [
            "https://jslib.k6.io/k6-utils/1.4.0/index.js",
            "https://jslib.k6.io/k6-utils/1.6.0/index.js?x#y",
            "https://jslib.k6.io/formdata/0.0.9/index.js",
            "https://jslib.k6.io/papaparse/5.1.1/index.js",
        ] {
            assert!(source(known).is_some(), "{known}");
        }
        for unknown in [
            "https://jslib.k6.io/k6-utils/9.4.0/index.js",
            "https://jslib.k6.io/k6-utils/1.4.0/other.js",
            "https://jslib.k6.io/k6-utils/1.4.0/../1.4.0/x/index.js",
            "https://jslib.k6.io/index.js",
            "https://example.com/k6-utils/1.4.0/index.js",
            "http://jslib.k6.io/k6-utils/1.4.0/index.js",
        ] {
            assert!(source(unknown).is_none(), "{unknown}");
        }
        let (first, later) = ("formdata/0.0.1/index.js", "formdata/0.0.2/index.js");
        assert_ne!(source(&format!("{HOST}{first}")), source(&format!("{HOST}{later}")));
    }

    #[test]
    fn each_address_has_its_library() {
        let found = addresses().filter(|address| source(address).is_some());
        assert_eq!(found.count(), LIBRARIES.len());
    }

    #[test]
    fn what_is_built_in_is_told_in_one_line() {
        assert_eq!(
            known(),
            "formdata, k6-utils 1.0.0-1.6.0, k6-summary 0.0.1-0.1.0, k6chaijs 4.3.4.0-4.5.0.1, \
             httpx 0.0.1-0.1.0, k6-testing 0.1.0-0.6.1, papaparse 5.1.1, url 1.0.0, totp 1.0.0"
        );
    }
}
