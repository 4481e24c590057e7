//! Which samples a threshold looks at: `http_req_duration{name:x}`.

use super::ThresholdError;

/// A metric, or the part of it whose tags contain some pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The name of the metric.
    pub metric: String,
    /// The text between the braces, as it was written; none without braces.
    pub suffix: Option<String>,
    /// The pairs in the braces.
    pub tags: Vec<(String, String)>,
}

impl Selector {
    /// Reads `metric` or `metric{key:value,key2:value2}`.
    ///
    /// Blanks and quotes around keys and values don't count; a value may have colons.
    pub fn parse(name: &str) -> Result<Self, ThresholdError> {
        let (metric, rest) = match (name.split_once('{'), name.contains('}')) {
            (None, false) => {
                return Ok(Self { metric: name.to_owned(), suffix: None, tags: Vec::new() });
            }
            (Some(parts), true) => parts,
            _ => return Err(ThresholdError::Braces(name.to_owned())),
        };
        let Some(suffix) = rest.strip_suffix('}') else {
            return Err(ThresholdError::Braces(name.to_owned()));
        };
        // Before it is split: the name, read again, has the same tags.
        let suffix = suffix.trim();
        let tags = suffix
            .split(',')
            .map(|pair| {
                let bare = |text: &str| text.trim_matches([' ', '"', '\'']).to_owned();
                let (key, value) = pair.split_once(':').unwrap_or_default();
                // Quotes around nothing are a value, though one that no tag has.
                let is_missing = value.trim_matches(' ').is_empty();
                let (key, value) = (bare(key), bare(value));
                if key.is_empty() || is_missing {
                    let (name, pair) = (name.to_owned(), pair.to_owned());
                    return Err(ThresholdError::Tag { name, pair });
                }
                Ok((key, value))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { metric: metric.to_owned(), suffix: Some(suffix.to_owned()), tags })
    }

    /// The name of the metric or submetric: what was written, less blanks inside the braces' ends.
    pub fn name(&self) -> String {
        match &self.suffix {
            None => self.metric.clone(),
            Some(suffix) => format!("{}{{{suffix}}}", self.metric),
        }
    }

    /// A tag in it that is metadata and so never matches: `vu` or `iter`.
    pub fn unmatchable(&self) -> Option<&str> {
        self.tags.iter().map(|(key, _)| &**key).find(|key| matches!(*key, "vu" | "iter"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_lose_blanks_and_quotes_and_keep_colons() {
        let selector =
            Selector::parse("http_reqs{ name : \"x\" , group:::g1,u:'http://a/{b}'}").unwrap();
        assert_eq!(selector.metric, "http_reqs");
        let pairs: Vec<_> = selector.tags.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(pairs, [("name", "x"), ("group", "::g1"), ("u", "http://a/{b}")]);
        assert_eq!(selector.name(), "http_reqs{name : \"x\" , group:::g1,u:'http://a/{b}'}");
    }

    #[test]
    fn a_name_that_is_read_again_has_the_same_tags() {
        let selector = Selector::parse("http_reqs{\n name:x,\tu:y\t}").unwrap();
        assert_eq!(selector.tags[0], ("name".to_owned(), "x".to_owned()));
        assert_eq!(Selector::parse(&selector.name()).unwrap().tags, selector.tags);
    }

    #[test]
    fn a_plain_name_has_no_tags() {
        let selector = Selector::parse("http_reqs").unwrap();
        assert_eq!((selector.name(), selector.tags.len()), ("http_reqs".to_owned(), 0));
    }

    #[test]
    fn malformed_names_are_refused() {
        let said = |name: &str| Selector::parse(name).unwrap_err().to_string();
        insta::assert_snapshot!(
            ["aa{}", "aa{x}", "aa{x:}", "aa{:y}", "aa{x:y,}", "aa{x:y", "aa}", "aa{x:y}z"].map(said).join("\n"),
            @r#"
        malformed threshold name "aa{}": "" is not a tag; write {key:value}
        malformed threshold name "aa{x}": "x" is not a tag; write {key:value}
        malformed threshold name "aa{x:}": "x:" is not a tag; write {key:value}
        malformed threshold name "aa{:y}": ":y" is not a tag; write {key:value}
        malformed threshold name "aa{x:y,}": "" is not a tag; write {key:value}
        malformed threshold name "aa{x:y": the braces around its tags don't match
        malformed threshold name "aa}": the braces around its tags don't match
        malformed threshold name "aa{x:y}z": the braces around its tags don't match
        "#
        );
    }
}
