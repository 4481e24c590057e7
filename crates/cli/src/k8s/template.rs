//! The part of Helm's template language that the chart uses: `{{ .a.b }}`, `$name`, texts, the functions `quote`, `toJson`,
//! `printf "…%s…"`, `not`, `required "message"`, `fail "message"`, pipelines, `if`, `else if`, `else`, `range`, and `{{-` with `-}}`.

use serde_json::Value;

/// Renders a template. `context` is what `.` is.
///
/// # Errors
/// A part of the language that is not in the list above; the message shows it. The message of a `fail`, or of a `required` whose value
/// is empty.
pub(super) fn render(text: &str, context: &Value) -> Result<String, String> {
    let mut parts = parts(text)?;
    parts.reverse();
    let scope = Scope { root: context, dot: context, names: Vec::new() };
    let mut out = String::new();
    match block(&mut parts, &scope, true, &mut out)? {
        None => Ok(out),
        Some(end) => Err(format!("{{{{ {end} }}}} without a beginning")),
    }
}

/// A piece of a template.
#[derive(Clone, Copy)]
enum Part<'a> {
    Text(&'a str),
    /// The words between the braces.
    Action(&'a str),
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, action) = (&rest[..at], &rest[at + 2..]);
        let end = action.find("}}").ok_or("{{ without }}")?;
        let (mut words, mut after) = (&action[..end], &action[end + 2..]);
        let mut before = before;
        if let Some(trimmed) = words.strip_prefix("- ") {
            (words, before) = (trimmed, before.trim_end());
        }
        if let Some(trimmed) = words.strip_suffix(" -") {
            (words, after) = (trimmed, after.trim_start());
        }
        found.push(Part::Text(before));
        found.push(Part::Action(words.trim()));
        rest = after;
    }
    found.push(Part::Text(rest));
    Ok(found)
}

/// The values behind names.
struct Scope<'a> {
    root: &'a Value,
    dot: &'a Value,
    names: Vec<(&'a str, Value)>,
}

/// Renders up to the end of the block; `is_live`: into `out`, or nowhere. The action that ends it; none at the end of the text.
fn block<'a>(
    parts: &mut Vec<Part<'a>>,
    scope: &Scope<'_>,
    is_live: bool,
    out: &mut String,
) -> Result<Option<&'a str>, String> {
    while let Some(part) = parts.pop() {
        match part {
            Part::Text(text) if is_live => out.push_str(text),
            Part::Text(_) => {}
            Part::Action(action) => match action.split_once(' ') {
                Some(("if", condition)) => branches(parts, condition, scope, is_live, out)?,
                Some(("range", over)) => repeat(parts, over, scope, is_live, out)?,
                _ if action == "end" || action == "else" || action.starts_with("else ") => {
                    return Ok(Some(action));
                }
                _ if is_live => out.push_str(&shown(&pipeline(action, scope)?)),
                _ => {}
            },
        }
    }
    Ok(None)
}

fn branches(
    parts: &mut Vec<Part<'_>>,
    condition: &str,
    scope: &Scope<'_>,
    is_live: bool,
    out: &mut String,
) -> Result<(), String> {
    let mut is_done = !is_live;
    let mut is_taken = !is_done && is_true(&pipeline(condition, scope)?);
    loop {
        let end = block(parts, scope, is_taken, out)?;
        is_done |= is_taken;
        match end {
            Some("end") => return Ok(()),
            Some("else") => is_taken = !is_done,
            Some(other) => {
                let condition = other.strip_prefix("else if ").ok_or(format!("unknown {other}"))?;
                is_taken = !is_done && is_true(&pipeline(condition, scope)?);
            }
            None => return Err(format!("{{{{ if {condition} }}}} without an end")),
        }
    }
}

fn repeat(
    parts: &mut Vec<Part<'_>>,
    over: &str,
    scope: &Scope<'_>,
    is_live: bool,
    out: &mut String,
) -> Result<(), String> {
    let (names, list) = match over.split_once(":=") {
        Some((names, list)) => {
            let (key, value) = names.split_once(',').ok_or(format!("two names in {over}"))?;
            (Some((key.trim(), value.trim())), list.trim())
        }
        None => (None, over),
    };
    let list = if is_live { pipeline(list, scope)? } else { Value::Null };
    let items: Vec<(Value, Value)> = match list {
        Value::Array(items) => {
            items.into_iter().zip(0_u64..).map(|(it, at)| (at.into(), it)).collect()
        }
        Value::Object(items) => {
            let mut items: Vec<_> = items.into_iter().collect();
            items.sort_by(|a, b| a.0.cmp(&b.0));
            items.into_iter().map(|(key, item)| (key.into(), item)).collect()
        }
        _ => Vec::new(),
    };
    // The body is read again for each item; `left` is how much follows it.
    let body: Vec<Part<'_>> = std::mem::take(parts);
    let ended = |scope: &Scope<'_>, is_live: bool, out: &mut String| {
        let mut rest = body.clone();
        let end = block(&mut rest, scope, is_live, out)?;
        if end != Some("end") {
            return Err(format!("{{{{ range {over} }}}} without an end"));
        }
        Ok(rest.len())
    };
    let mut left = None;
    for (key, item) in &items {
        let names = names.map(|(first, second)| vec![(first, key.clone()), (second, item.clone())]);
        let inner = Scope { root: scope.root, dot: item, names: names.unwrap_or_default() };
        left = Some(ended(&inner, true, out)?);
    }
    let left = match left {
        Some(left) => left,
        None => ended(scope, false, out)?,
    };
    *parts = body;
    parts.truncate(left);
    Ok(())
}

/// `a | f | g`
fn pipeline(text: &str, scope: &Scope<'_>) -> Result<Value, String> {
    let mut value = None;
    for call in split(text, '|') {
        let mut words: Vec<&str> =
            split(call, ' ').into_iter().filter(|word| !word.is_empty()).collect();
        let first = words.remove(0);
        let mut arguments =
            words.into_iter().map(|word| term(word, scope)).collect::<Result<Vec<_>, _>>()?;
        arguments.extend(value.take());
        value = Some(match (first, arguments.as_slice()) {
            ("quote", [value]) => Value::from(quoted(&shown(value))),
            ("toJson", [value]) => Value::from(value.to_string()),
            ("not", [value]) => Value::from(!is_true(value)),
            ("printf", [Value::String(form), value]) => {
                Value::from(form.replacen("%s", &shown(value), 1))
            }
            ("required", [Value::String(message), value]) if is_missing(value) => {
                return Err(message.clone());
            }
            ("required", [Value::String(_), value]) => value.clone(),
            ("fail", [Value::String(message)]) => return Err(message.clone()),
            (word, []) => term(word, scope)?,
            _ => return Err(format!("unknown {call}")),
        });
    }
    value.ok_or_else(|| "an action without words".to_owned())
}

/// The parts of a text between `mark`s that are in no quotes.
fn split(text: &str, mark: char) -> Vec<&str> {
    let mut is_quoted = false;
    let is_mark = |char: char| {
        is_quoted ^= char == '"';
        char == mark && !is_quoted
    };
    text.split(is_mark).map(str::trim).collect()
}

fn term(word: &str, scope: &Scope<'_>) -> Result<Value, String> {
    if let Some(text) = word.strip_prefix('"') {
        return Ok(Value::from(text.strip_suffix('"').ok_or(format!("{word} has no end"))?));
    }
    if word == "." {
        return Ok(scope.dot.clone());
    }
    if word.starts_with('$') {
        let named = scope.names.iter().find(|(name, _)| *name == word);
        return named.map(|(_, value)| value.clone()).ok_or(format!("unknown {word}"));
    }
    let path = word.strip_prefix('.').ok_or(format!("unknown {word}"))?;
    let mut value = scope.root;
    for key in path.split('.') {
        value = value.get(key).ok_or(format!("there is no {word}"))?;
    }
    Ok(value.clone())
}

/// Helm's idea of a value that was not given: 0 and `false` were.
fn is_missing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

/// Go's idea of it.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(items) => !items.is_empty(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// As Go quotes: for texts of printable characters.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(text: &str) -> Result<String, String> {
        let context = json!({
            "Values": { "a": "x \"y\"", "n": 3, "none": "", "list": ["p", "q"], "map": { "k2": "v2", "k1": "v1" } },
        });
        render(text, &context)
    }

    #[test]
    fn values_are_put_in() {
        assert_eq!(rendered("v: {{ .Values.a | quote }}\n").as_deref(), Ok("v: \"x \\\"y\\\"\"\n"));
        assert_eq!(rendered("{{ .Values.n }}{{ .Values.n | quote }}").as_deref(), Ok("3\"3\""));
        assert_eq!(
            rendered("{{ printf \"/a b/%s\" .Values.n | quote }}").as_deref(),
            Ok("\"/a b/3\"")
        );
        assert_eq!(rendered("{{ .Values.list | toJson }}").as_deref(), Ok("[\"p\",\"q\"]"));
    }

    #[test]
    fn branches_take_the_first_that_is_true() {
        let text = "a\n{{- if .Values.none }}\nb\n{{- else if .Values.n }}\nc\n{{- else }}\nd\n{{- end }}\ne\n";
        assert_eq!(rendered(text).as_deref(), Ok("a\nc\ne\n"));
        let text =
            "{{- if not .Values.none }}1{{ if .Values.none }}2{{ else }}3{{ end }}{{ end -}}\n 4";
        assert_eq!(rendered(text).as_deref(), Ok("134"));
        assert_eq!(
            rendered("{{ if .Values.none }}{{ if .Values.n }}1{{ end }}{{ else }}2{{ end }}")
                .as_deref(),
            Ok("2")
        );
    }

    #[test]
    fn lists_and_maps_are_gone_through_in_order() {
        assert_eq!(
            rendered("{{- range .Values.list }}\n- {{ . }}\n{{- end }}\nz").as_deref(),
            Ok("\n- p\n- q\nz")
        );
        let text = "{{ range $k, $v := .Values.map }}{{ $k }}={{ $v }};{{ end }}.";
        assert_eq!(rendered(text).as_deref(), Ok("k1=v1;k2=v2;."));
        assert_eq!(rendered("{{ range .Values.none }}{{ . }}{{ end }}.").as_deref(), Ok("."));
    }

    #[test]
    fn what_is_required_is_there_or_its_message_is_the_error() {
        let wanted = "{{ required \"give it: a b\" .Values.n | quote }}";
        assert_eq!(rendered(wanted).as_deref(), Ok("\"3\""));
        let missing = wanted.replace(".n ", ".none ");
        assert_eq!(rendered(&missing), Err("give it: a b".to_owned()));
        let text =
            "{{ if .Values.none }}{{ fail \"no\" }}{{ else }}{{ fail \"this one\" }}{{ end }}";
        assert_eq!(rendered(text), Err("this one".to_owned()));
    }

    #[test]
    fn all_else_is_refused() {
        for text in [
            "{{ include \"a\" . }}",
            "{{ .Values.z }}",
            "{{ if .Values.n }}",
            "{{ end }}",
            "{{ a",
            "{{ range .Values.list }}",
        ] {
            assert!(rendered(text).is_err(), "{text}");
        }
    }
}
