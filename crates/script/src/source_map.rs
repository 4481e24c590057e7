//! Source maps: of what we generate, and of what a bundler generated.

use base64::{Engine as _, engine::general_purpose};
use oxc_sourcemap::SourceMap as OxcSourceMap;
use url::Url;

use crate::{files::Files, positions::Place, resolve::path_of};

/// From the lines and columns of a generated text to those of its sources.
pub(crate) struct SourceMap {
    /// Where stretches of the generated text begin, in its order; those with an origin.
    origins: Vec<Origin>,
    /// The URLs of the sources, absolute; none for what we generated ourselves.
    sources: Vec<String>,
}

/// Lines and columns from 0, as in the format.
#[derive(Debug, Clone, Copy)]
struct Origin {
    generated: (u32, u32),
    source: u32,
    original: (u32, u32),
}

impl std::fmt::Debug for SourceMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceMap").field("sources", &self.sources).finish_non_exhaustive()
    }
}

impl SourceMap {
    /// The map of a text generated from a single source.
    pub(crate) fn of_generated(map: &OxcSourceMap<'_>) -> Self {
        Self::new(map, Vec::new())
    }

    fn new(map: &OxcSourceMap<'_>, sources: Vec<String>) -> Self {
        let mut origins: Vec<_> = map
            .get_tokens()
            .filter_map(|token| {
                Some(Origin {
                    generated: (token.get_dst_line(), token.get_dst_col()),
                    source: token.get_source_id()?,
                    original: (token.get_src_line(), token.get_src_col()),
                })
            })
            .collect();
        // Maps are in order but for broken ones.
        origins.sort_by_key(|origin| origin.generated);
        Self { origins, sources }
    }

    /// The last origin that is not after a place (from 1, UTF-16 units) of the generated text.
    fn before(&self, line: u32, column: u32) -> Option<&Origin> {
        let place = (line.saturating_sub(1), column.saturating_sub(1));
        let after = self.origins.partition_point(|origin| origin.generated <= place);
        self.origins.get(after.checked_sub(1)?)
    }

    /// Where a place of the generated text comes from, if something on its line, at or before it,
    /// says so.
    pub(crate) fn lookup(&self, line: u32, column: u32) -> Option<Place<'_>> {
        let origin = self.before(line, column)?;
        (origin.generated.0 + 1 == line).then(|| Place {
            url: self.sources.get(origin.source as usize).map(String::as_str),
            line: origin.original.0.saturating_add(1),
            column: origin.original.1.saturating_add(1),
        })
    }

    /// The same as k6 tells it: that of the column after, counted from 0, or what the lines before end with.
    pub(crate) fn told(&self, line: u32, column: u32) -> Option<Place<'_>> {
        let origin = self.before(line, column.saturating_add(1))?;
        Some(Place {
            url: self.sources.get(origin.source as usize).map(String::as_str),
            line: origin.original.0.saturating_add(1),
            column: origin.original.1,
        })
    }

    /// The nearest origin at or before a place, whatever its line; the start of the source if
    /// there is none.
    pub(crate) fn nearest(&self, line: u32, column: u32) -> (u32, u32) {
        self.before(line, column)
            .map_or((1, 1), |origin| (origin.original.0 + 1, origin.original.1 + 1))
    }

    /// The map that a text names in its last comment, `//# sourceMappingURL=…`: inline, or a file
    /// beside it; that of a module from `https://` is fetched. A map that can't be read is no error, but a warning in the
    /// log.
    pub(crate) fn of_bundle(text: &str, url: &str, files: &dyn Files) -> Option<Self> {
        let reference = reference(text)?;
        match read(reference, url, files) {
            Ok(map) => Some(map),
            Err(reason) => {
                log::warn!(script = url, error = reason.as_str(); "Couldn't load source map");
                None
            }
        }
    }

    /// Whether a text says where its map is.
    pub(crate) fn is_named_in(text: &str) -> bool {
        reference(text).is_some()
    }
}

/// The address in the last `sourceMappingURL` comment of a text, if it is among its last lines.
fn reference(text: &str) -> Option<&str> {
    let line =
        text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(3).find(|line| {
            line.starts_with("//# sourceMappingURL=") || line.starts_with("//@ sourceMappingURL=")
        })?;
    let (_, reference) = line.split_once('=')?;
    Some(reference.trim()).filter(|reference| !reference.is_empty())
}

fn read(reference: &str, url: &str, files: &dyn Files) -> Result<SourceMap, String> {
    let base = Url::parse(url).map_err(|error| error.to_string())?;
    let (json, place) = if let Some(data) = reference.strip_prefix("data:") {
        (inline(data)?, base)
    } else {
        let place = base.join(reference).map_err(|error| error.to_string())?;
        let bytes = match path_of(place.as_str()) {
            // A file of this machine is no source of a remote script.
            Some(_) if base.scheme() != "file" => {
                return Err(format!("{place}: a remote module can't read files"));
            }
            Some(path) => {
                files.read(&path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            None if place.scheme() == "https" => files.fetch(place.as_str())?,
            None => return Err(format!("{place}: it is neither a file nor fetched by https")),
        };
        (String::from_utf8(bytes).map_err(|error| error.to_string())?, place)
    };
    // Some servers and tools put `)]}'` before JSON; the format allows for it.
    let json = json.trim_start_matches(")]}'");
    let map = OxcSourceMap::from_json_string(json).map_err(|error| error.to_string())?;
    let root = map.get_source_root().unwrap_or_default().trim_end_matches('/');
    let sources = map
        .get_sources()
        .map(|source| {
            let source =
                if root.is_empty() { source.to_owned() } else { format!("{root}/{source}") };
            // A URL stays as it is: bundlers' `webpack:///./a.ts` is not to be tidied.
            if Url::parse(&source).is_ok() {
                return source;
            }
            place.join(&source).map_or(source, String::from)
        })
        .collect();
    Ok(SourceMap::new(&map, sources))
}

/// The text of a `data:` URL, whose scheme was cut off.
fn inline(data: &str) -> Result<String, String> {
    let (kind, payload) = data.split_once(',').ok_or("a data URL without data")?;
    if !kind.ends_with(";base64") {
        return Err("an inline source map that is not base64".to_owned());
    }
    let bytes = general_purpose::STANDARD_NO_PAD
        .decode(payload.trim_end_matches('='))
        .map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::InMemory;

    /// Line 1 column 1 comes from the second source's line 3 column 5.
    const JSON: &str = r#"{"version":3,"sourceRoot":"src/","sources":["a.ts","b.ts"],"names":[],"mappings":"ACEI"}"#;

    /// Files, and one page.
    struct Web(InMemory);

    impl Files for Web {
        fn read(&self, path: &std::path::Path) -> std::io::Result<Vec<u8>> {
            self.0.read(path)
        }

        fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
            let is_there = url == "https://h.test/lib/a.js.map";
            if is_there { Ok(JSON.into()) } else { Err("404".to_owned()) }
        }

        fn current_dir(&self) -> std::io::Result<std::path::PathBuf> {
            self.0.current_dir()
        }
    }

    fn bundle(text: &str, files: &InMemory) -> Option<(String, u32, u32)> {
        let map = SourceMap::of_bundle(text, "file:///dist/bundle.js", files)?;
        let place = map.lookup(1, 9)?;
        Some((place.url.unwrap_or_default().to_owned(), place.line, place.column))
    }

    #[test]
    fn a_map_beside_the_bundle_leads_to_its_sources() {
        let files = InMemory::new().with("/dist/bundle.js.map", JSON);
        let found = bundle("x();\n//# sourceMappingURL=bundle.js.map\n\n", &files);
        assert_eq!(found, Some(("file:///dist/src/b.ts".to_owned(), 3, 5)));
    }

    #[test]
    fn an_inline_map_is_read() {
        let data = general_purpose::STANDARD.encode(JSON);
        let text =
            format!("x();\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,{data}");
        assert_eq!(
            bundle(&text, &InMemory::new()),
            Some(("file:///dist/src/b.ts".to_owned(), 3, 5))
        );
    }

    #[test]
    fn the_map_of_a_remote_module_is_fetched_and_reads_no_files() {
        let files = Web(InMemory::new().with("/etc/x.map", JSON));
        let of = |reference: &str| {
            let text = format!("x();\n//# sourceMappingURL={reference}");
            let map = SourceMap::of_bundle(&text, "https://h.test/lib/a.js", &files)?;
            map.lookup(1, 9).and_then(|place| place.url).map(str::to_owned)
        };
        let inside = Some("https://h.test/lib/src/b.ts".to_owned());
        assert_eq!(of("a.js.map"), inside);
        assert_eq!(of("/lib/a.js.map"), inside);
        assert_eq!(of("none.map"), None);
        assert_eq!(of("file:///etc/x.map"), None);
        assert_eq!(of("http://h.test/lib/a.js.map"), None);
        let data = general_purpose::STANDARD.encode(JSON);
        assert_eq!(of(&format!("data:application/json;base64,{data}")), inside);
    }

    #[test]
    fn a_map_that_is_missing_or_broken_is_no_error() {
        let files = InMemory::new().with("/dist/bad.map", "{").with("/dist/bin.map", [0xff]);
        for reference in [
            "none.map",
            "bad.map",
            "bin.map",
            "data:x",
            "data:;base64,!",
            "https://h/x",
            "data:,{}",
        ] {
            let text = format!("x();\n//# sourceMappingURL={reference}");
            assert_eq!(bundle(&text, &files), None, "{reference}");
        }
        assert_eq!(bundle("x();\n//# sourceMappingURL=\n", &files), None);
    }

    #[test]
    fn a_place_before_the_first_mapping_stays() {
        let json = r#"{"version":3,"sources":["a.ts"],"names":[],"mappings":";IAAA"}"#;
        let files = InMemory::new().with("/dist/m", json);
        let map =
            SourceMap::of_bundle("//# sourceMappingURL=m", "file:///dist/x.js", &files).unwrap();
        assert_eq!(map.lookup(1, 1), None);
        assert_eq!(map.lookup(2, 1), None);
        assert_eq!(map.lookup(2, 5).map(|place| place.line), Some(1));
        assert_eq!(map.lookup(99, 1), None);
        assert_eq!(map.nearest(1, 1), (1, 1));
    }
}
