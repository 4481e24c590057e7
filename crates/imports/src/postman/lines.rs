//! Scripts, cut into statements.

/// A statement with the line that it begins on, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) line: usize,
    /// How it ended: `{` opens a block, `}` closes one, `;` is any other end.
    pub(super) end: char,
}

/// The statements of a script. Comments are left out; a line's end is a statement's end outside of parentheses.
pub(super) fn statements(source: &str) -> Vec<Statement> {
    let mut all = Vec::new();
    let mut text = String::new();
    let (mut line, mut begun, mut depth) = (1, 1, 0_usize);
    let mut chars = source.chars().peekable();
    let mut end = |text: &mut String, begun: usize, end: char| {
        let own = std::mem::take(text).trim().to_owned();
        if !own.is_empty() || end != ';' {
            all.push(Statement { text: own, line: begun, end });
        }
    };
    while let Some(c) = chars.next() {
        if text.trim().is_empty() {
            begun = line;
        }
        line += usize::from(c == '\n');
        match c {
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    line += usize::from(c == '\n');
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '"' | '\'' | '`' => {
                text.push(c);
                while let Some(inner) = chars.next() {
                    text.push(inner);
                    line += usize::from(inner == '\n');
                    if inner == '\\' {
                        text.extend(chars.next());
                    } else if inner == c || (inner == '\n' && c != '`') {
                        break;
                    }
                }
            }
            '{' | '}' => {
                end(&mut text, begun, c);
                depth = 0;
            }
            ';' => {
                end(&mut text, begun, ';');
                depth = 0;
            }
            '\n' if depth == 0 => end(&mut text, begun, ';'),
            '\n' => text.push(' '),
            '(' | '[' => {
                depth += 1;
                text.push(c);
            }
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                text.push(c);
            }
            c => text.push(c),
        }
    }
    end(&mut text, begun, ';');
    all
}

/// The text of a string literal without escapes and templates.
pub(super) fn literal(text: &str) -> Option<&str> {
    let text = text.trim();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_template = quote == '`' && inside.contains("${");
    (!is_template && !inside.contains([quote, '\\'])).then_some(inside)
}

/// The arguments of a call, split at its commas: `name(a, b)` behind `name`. Nothing if there is more behind it.
pub(super) fn arguments(text: &str) -> Option<Vec<String>> {
    let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut all = vec![String::new()];
    let (mut depth, mut quote) = (0_i32, None);
    for c in inside.chars() {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, ',') if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        all.last_mut()?.push(c);
    }
    Some(all.into_iter().map(|argument| argument.trim().to_owned()).collect())
}
