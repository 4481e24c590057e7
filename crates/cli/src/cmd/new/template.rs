//! Fills a template: what of Go's `text/template` the templates of scripts use.

use crate::failure::{Failure, Outcome};

/// The values that a template may name.
pub(super) struct Values<'a> {
    pub(super) script_name: &'a str,
    pub(super) project_id: &'a str,
}

impl Values<'_> {
    fn of(&self, name: &str) -> Option<&str> {
        match name {
            ".ScriptName" => Some(self.script_name),
            ".ProjectID" => Some(self.project_id),
            _ => None,
        }
    }
}

/// An open branch: whether its content is written, and whether one of its arms was.
struct Branch {
    is_on: bool,
    was_on: bool,
}

/// `{{ .ScriptName }}`, `{{ .ProjectID }}`, comments, `{{ if .X }} … {{ else }} … {{ end }}`; `-` beside a brace eats the
/// blanks there.
///
/// # Errors
/// Another action, an `else` or `end` too many, an `if` without `end` (255).
pub(super) fn fill(template: &str, values: &Values<'_>) -> Outcome<String> {
    let mut out = String::with_capacity(template.len());
    let mut branches: Vec<Branch> = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start..].find("}}") else { break };
        let action = &rest[start + 2..start + length];
        let mut text = &rest[..start];
        if action.starts_with("- ") {
            text = text.trim_end();
        }
        if branches.iter().all(|branch| branch.is_on) {
            out.push_str(text);
        }
        rest = &rest[start + length + 2..];
        if action.ends_with(" -") {
            rest = rest.trim_start();
        }
        let action = action.trim_start_matches("- ").trim_end_matches(" -").trim();
        let is_written = branches.iter().all(|branch| branch.is_on);
        let mut words = action.split_whitespace();
        match (words.next().unwrap_or_default(), words.next(), words.next()) {
            ("if", Some(name), None) if values.of(name).is_some() => {
                let is_on = values.of(name).is_some_and(|value| !value.is_empty());
                branches.push(Branch { is_on, was_on: is_on });
            }
            ("else", None, None) => {
                let branch = branches.last_mut().ok_or_else(|| unknown(action))?;
                branch.is_on = !branch.was_on;
                branch.was_on = true;
            }
            ("end", None, None) => {
                branches.pop().ok_or_else(|| unknown(action))?;
            }
            (name, None, None) if values.of(name).is_some() => {
                if is_written {
                    out.push_str(values.of(name).unwrap_or_default());
                }
            }
            _ if action.starts_with("/*") && action.ends_with("*/") => {}
            _ => return Err(unknown(action)),
        }
    }
    if !branches.is_empty() {
        return Err(Failure::usage("the template has an {{ if }} without an {{ end }}"));
    }
    out.push_str(rest);
    Ok(out)
}

fn unknown(action: &str) -> Failure {
    Failure::usage(format!("the template uses \"{{{{ {action} }}}}\", which is not supported"))
        .hint("a template may use .ScriptName, .ProjectID, if, else and end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, project_id: &str) -> Result<String, String> {
        let values = Values { script_name: "x.js", project_id };
        fill(template, &values).map_err(|failure| failure.message())
    }

    #[test]
    fn values_and_branches() {
        assert_eq!(filled("// {{ .ScriptName }} {{.ProjectID}}", "7").unwrap(), "// x.js 7");
        let template = "a {{- if .ProjectID }}[{{ .ProjectID }}]{{ else }}none{{ end -}} \n b";
        assert_eq!(filled(template, "7").unwrap(), "a[7]b");
        assert_eq!(filled(template, "").unwrap(), "anoneb");
        assert_eq!(filled("{{/* a word */}}x {{", "").unwrap(), "x {{");
    }

    #[test]
    fn what_we_dont_know_is_refused() {
        for template in ["{{ range .X }}", "{{ end }}", "{{ .Nope }}", "{{ if .ProjectID }}x"] {
            assert!(filled(template, "").is_err(), "{template}");
        }
    }
}
