//! Routes by hand: a line for each.
//!
//! ```text
//! # the shop
//! GET /users/{id}
//! /files/{path...}
//! ```

use crate::fold;

/// Patterns of a file; all of them are tried for each new URL.
const PATTERNS_MAX: usize = 500;
/// The longest line, in bytes.
const LINE_MAX: usize = 1024;

/// Patterns of routes; the first that fits names the route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// None for any.
    method: Option<String>,
    /// The path as it is written.
    path: String,
    segments: Vec<Segment>,
    line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Word(String),
    /// `{id}`: any segment that is not empty.
    One,
    /// `{path...}`: all that is left.
    Rest,
}

/// A line that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct PatternError {
    /// From 1.
    pub line: usize,
    /// The character, from 1.
    pub column: usize,
    /// The fault and the remedy.
    pub problem: String,
}

impl Patterns {
    /// Reads a file: a pattern each line, `GET /users/{id}` or `/users/{id}` for any method. `{name}` is one segment,
    /// `{name...}` at the end all that is left. Empty lines and lines that begin with `#` are left out.
    ///
    /// # Errors
    /// The first line that is no pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let mut patterns: Vec<Pattern> = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, whole) in text.lines().enumerate() {
            let line = index + 1;
            let said = whole.trim();
            if said.is_empty() || said.starts_with('#') {
                continue;
            }
            let fault = |rest: &str, problem: String| {
                let at = rest.as_ptr() as usize - whole.as_ptr() as usize;
                let column = whole[..at].chars().count() + 1;
                PatternError { line, column, problem }
            };
            if said.len() > LINE_MAX {
                return Err(fault(said, format!("a pattern has {LINE_MAX} bytes at most")));
            }
            if patterns.len() >= PATTERNS_MAX {
                return Err(fault(said, format!("a file has {PATTERNS_MAX} patterns at most")));
            }
            let (method, path) = match said.split_once(char::is_whitespace) {
                Some((method, path)) => (Some(method), path.trim_start()),
                None => (None, said),
            };
            let method = method.filter(|method| *method != "*");
            if let Some(method) = method
                && !method.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(&byte))
            {
                let problem =
                    format!("\"{method}\" is not a method; write it as in GET /users/{{id}}");
                return Err(fault(said, problem));
            }
            let segments = segments(path).map_err(|(rest, problem)| fault(rest, problem))?;
            let pattern = Pattern {
                method: method.map(str::to_ascii_uppercase),
                path: path.to_owned(),
                segments,
                line,
            };
            let same =
                |one: &&Pattern| one.method == pattern.method && one.segments == pattern.segments;
            if let Some(one) = patterns.iter().find(same) {
                return Err(fault(
                    said,
                    format!("line {} is the same pattern; leave one of them out", one.line),
                ));
            }
            patterns.push(pattern);
        }
        Ok(Self(patterns))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The route of a request: its origin and the path of the first pattern that fits. The query doesn't count.
    pub(crate) fn push_route(&self, out: &mut String, method: &str, url: &str) -> bool {
        let (.., rest) = fold::origin_of(url);
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        let Some(pattern) = self.0.iter().find(|pattern| pattern.fits(method, path)) else {
            return false;
        };
        out.clear();
        fold::push_origin(out, url.split(['?', '#']).next().unwrap_or_default());
        if out.ends_with('/') {
            out.pop();
        }
        out.push_str(&pattern.path);
        true
    }
}

impl Pattern {
    fn fits(&self, method: &str, path: &str) -> bool {
        if self.method.as_deref().is_some_and(|own| !own.eq_ignore_ascii_case(method)) {
            return false;
        }
        let mut parts = path.split('/').skip(1);
        for segment in &self.segments {
            match (segment, parts.next()) {
                (Segment::Rest, rest) => return rest.is_some(),
                (Segment::One, Some(part)) if !part.is_empty() => {}
                (Segment::Word(word), Some(part)) if word == part => {}
                _ => return false,
            }
        }
        parts.next().is_none()
    }
}

/// The segments of a path; else where it is wrong, and how.
fn segments(path: &str) -> Result<Vec<Segment>, (&str, String)> {
    if !path.starts_with('/') {
        let problem =
            format!("\"{path}\" is not a path; it begins with /, as in GET /users/{{id}}");
        return Err((path, problem));
    }
    if let Some(at) = path.find(['?', '#']) {
        return Err((&path[at..], "a pattern has a path alone; leave the query out".to_owned()));
    }
    if let Some(at) = path.find(char::is_whitespace) {
        return Err((&path[at..], "a path has no blanks; write %20".to_owned()));
    }
    let mut segments = Vec::new();
    for part in path[1..].split('/') {
        if let Some(Segment::Rest) = segments.last() {
            return Err((
                part,
                "{…...} takes all that is left; nothing can come behind it".to_owned(),
            ));
        }
        let inner = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        segments.push(match inner {
            Some(name) => {
                let (name, kind) = match name.strip_suffix("...") {
                    Some(name) => (name, Segment::Rest),
                    None => (name, Segment::One),
                };
                if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    let problem = format!("\"{part}\" has no name; a name is made of letters, digits and _, as in {{id}}");
                    return Err((part, problem));
                }
                kind
            }
            None => match part.find(['{', '}']) {
                Some(at) => {
                    let problem = "a placeholder is a whole segment, as in /users/{id}".to_owned();
                    return Err((&part[at..], problem));
                }
                None => Segment::Word(part.to_owned()),
            },
        });
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pattern_that_fits_names_the_route() {
        let patterns = Patterns::parse(
            "# shop\n\nGET /users/me\n get   /users/{id}\r\n/users/{id}/posts\n/files/{path...}\n* /\n",
        )
        .unwrap();
        let route = |method: &str, url: &str| {
            let mut out = String::new();
            patterns.push_route(&mut out, method, url).then_some(out)
        };
        for (method, url, expected) in [
            ("GET", "http://a/users/me", Some("http://a/users/me")),
            ("GET", "http://a/users/17?x=1", Some("http://a/users/{id}")),
            ("POST", "http://a/users/17", None),
            ("POST", "http://me@a:8/users/17/posts#x", Some("http://a:8/users/{id}/posts")),
            ("GET", "http://a/users/", None),
            ("GET", "http://a/files/a/b/c", Some("http://a/files/{path...}")),
            ("GET", "http://a/files", None),
            ("GET", "http://a", Some("http://a/")),
            ("GET", "http://a?x", Some("http://a/")),
            ("PUT", "/files/", Some("/files/{path...}")),
        ] {
            assert_eq!(route(method, url).as_deref(), expected, "{method} {url}");
        }
        assert!(Patterns::parse("\n# nothing\n").unwrap().is_empty());
    }

    #[test]
    fn faults_are_told_with_their_place() {
        for (text, told) in [
            ("GET users", "1:5: \"users\" is not a path; it begins with /, as in GET /users/{id}"),
            ("users", "1:1: \"users\" is not a path; it begins with /, as in GET /users/{id}"),
            ("\n  G3T /x", "2:3: \"G3T\" is not a method; write it as in GET /users/{id}"),
            ("/x?y=1", "1:3: a pattern has a path alone; leave the query out"),
            ("GET /é/a{b}", "1:9: a placeholder is a whole segment, as in /users/{id}"),
            ("/{}", "1:2: \"{}\" has no name; a name is made of letters, digits and _, as in {id}"),
            ("/{a...}/b", "1:9: {…...} takes all that is left; nothing can come behind it"),
            ("GET /a b", "1:7: a path has no blanks; write %20"),
            ("/a/{id}\n/b\n /a/{x}", "3:2: line 1 is the same pattern; leave one of them out"),
        ] {
            assert_eq!(Patterns::parse(text).unwrap_err().to_string(), told, "{text}");
        }
        let many: Vec<String> = (0..=PATTERNS_MAX).map(|n| format!("/p{n}x\n")).collect();
        let many = many.concat();
        assert_eq!(Patterns::parse(&many).unwrap_err().line, PATTERNS_MAX + 1);
    }
}
