//! A small model of a script, and its printer: expressions that are broken over lines where they do not fit.

/// The longest line that is not broken if it can be.
const WIDTH: usize = 110;

/// Something that has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// As it is. It may have lines of its own (a template), which are not indented.
    Raw(String),
    /// An object literal.
    Object(Vec<Entry>),
    /// An array literal.
    Array(Vec<Expr>),
    /// A call: what is called, and its arguments.
    Call(String, Vec<Expr>),
    /// The line at which this begins sends an exchange.
    Marked(usize, Box<Expr>),
}

/// A part of an object literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A key as it is written, and its value.
    Prop(String, Expr),
    /// `...this`, or a name alone.
    Short(String),
    /// A comment on a line of its own.
    Comment(String),
}

/// A line or more of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    /// `before`, the expression, `;`.
    Line(String, Expr),
    /// `// …`
    Comment(String),
    /// An empty line.
    Blank,
    /// Lines as they are, indented.
    Lines(String),
    /// Head, statements, tail: `group('x', () => {`, …, `});`.
    Block(String, Vec<Statement>, String),
}

impl Expr {
    /// An expression as it is.
    pub(crate) fn raw(text: impl Into<String>) -> Self {
        Self::Raw(text.into())
    }

    /// On one line; `None` if it can't be.
    fn flat(&self) -> Option<String> {
        match self {
            Self::Raw(text) => (!text.contains('\n')).then(|| text.clone()),
            Self::Marked(_, inner) => inner.flat(),
            Self::Array(items) => Some(format!("[{}]", flat_all(items)?)),
            Self::Call(callee, arguments) => Some(format!("{callee}({})", flat_all(arguments)?)),
            Self::Object(entries) if entries.is_empty() => Some("{}".to_owned()),
            Self::Object(entries) => {
                let mut parts = Vec::with_capacity(entries.len());
                for entry in entries {
                    parts.push(match entry {
                        Entry::Prop(key, Expr::Raw(value)) if is_short(key, value) => key.clone(),
                        Entry::Prop(key, value) => format!("{key}: {}", value.flat()?),
                        Entry::Short(text) => text.clone(),
                        Entry::Comment(_) => return None,
                    });
                }
                Some(format!("{{ {} }}", parts.join(", ")))
            }
        }
    }
}

/// Whether a member may be written as its name alone.
fn is_short(key: &str, value: &str) -> bool {
    key == value && crate::text::is_identifier(key)
}

fn flat_all(items: &[Expr]) -> Option<String> {
    let parts: Option<Vec<_>> = items.iter().map(Expr::flat).collect();
    Some(parts?.join(", "))
}

/// The text of a script as it grows, and the lines of its marks.
#[derive(Debug, Default)]
pub(crate) struct Printer {
    text: String,
    line: u32,
    column: usize,
    /// Exchanges with the lines, from 1, that send them.
    pub(crate) marks: Vec<(usize, u32)>,
}

impl Printer {
    /// The whole text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rsplit_once('\n') {
            Some((before, last)) => {
                self.line += 1 + u32::try_from(before.matches('\n').count()).unwrap_or(0);
                self.column = last.chars().count();
            }
            None => self.column += text.chars().count(),
        }
    }

    fn indent(&mut self, depth: usize) {
        self.push(&"  ".repeat(depth));
    }

    /// Prints statements.
    pub(crate) fn statements(&mut self, statements: &[Statement], depth: usize) {
        let mut is_begin = true;
        for statement in statements {
            match statement {
                // Neither a block nor another empty line is followed by one.
                Statement::Blank if is_begin || self.text.ends_with("\n\n") => continue,
                Statement::Blank => self.push("\n"),
                Statement::Comment(text) => self.comment(text, depth),
                Statement::Lines(text) => {
                    for line in text.lines() {
                        if !line.is_empty() {
                            self.indent(depth);
                        }
                        self.push(line);
                        self.push("\n");
                    }
                }
                Statement::Line(before, expr) => {
                    self.indent(depth);
                    self.push(before);
                    self.expr(expr, depth, 1);
                    self.push(";\n");
                }
                Statement::Block(head, inner, tail) => {
                    self.indent(depth);
                    self.push(head);
                    self.push("\n");
                    self.statements(inner, depth + 1);
                    self.indent(depth);
                    self.push(tail);
                    self.push("\n");
                }
            }
            is_begin = false;
        }
    }

    fn comment(&mut self, text: &str, depth: usize) {
        let room = WIDTH.saturating_sub(depth * 2 + 3).max(40);
        for paragraph in text.split('\n') {
            let words = paragraph.trim_start_matches(' ');
            let mut line = " ".repeat(paragraph.len() - words.len());
            let mut is_begin = true;
            for word in words.split(' ') {
                if !is_begin && line.chars().count() + 1 + word.chars().count() > room {
                    self.comment_line(&line, depth);
                    line.clear();
                    is_begin = true;
                }
                if !is_begin {
                    line.push(' ');
                }
                line.push_str(word);
                is_begin = false;
            }
            self.comment_line(&line, depth);
        }
    }

    fn comment_line(&mut self, line: &str, depth: usize) {
        self.indent(depth);
        self.push(format!("// {line}").trim_end());
        self.push("\n");
    }

    /// `after` columns must stay free behind it.
    fn expr(&mut self, expr: &Expr, depth: usize, after: usize) {
        self.note_marks(expr);
        if let Some(flat) = expr.flat()
            && (self.column + flat.chars().count() + after <= WIDTH || matches!(expr, Expr::Raw(_)))
        {
            self.note_inner(expr);
            return self.push(&flat);
        }
        match expr {
            Expr::Raw(text) => self.push(text),
            Expr::Marked(_, inner) => self.expr(inner, depth, after),
            Expr::Array(items) => self.broken('[', items, ']', depth),
            Expr::Object(entries) => self.object(entries, depth),
            Expr::Call(callee, arguments) => self.call(callee, arguments, depth),
        }
    }

    fn note_marks(&mut self, expr: &Expr) {
        if let Expr::Marked(exchange, _) = expr {
            self.marks.push((*exchange, self.line + 1));
        }
    }

    /// The marks inside an expression that is printed on this line.
    fn note_inner(&mut self, expr: &Expr) {
        let inner: Vec<&Expr> = match expr {
            Expr::Raw(_) => Vec::new(),
            Expr::Marked(_, inner) => vec![inner],
            Expr::Array(items) | Expr::Call(_, items) => items.iter().collect(),
            Expr::Object(entries) => entries
                .iter()
                .filter_map(
                    |entry| if let Entry::Prop(_, value) = entry { Some(value) } else { None },
                )
                .collect(),
        };
        for inner in inner {
            self.note_marks(inner);
            self.note_inner(inner);
        }
    }

    fn broken(&mut self, open: char, items: &[Expr], close: char, depth: usize) {
        self.push(&format!("{open}\n"));
        for item in items {
            self.indent(depth + 1);
            self.expr(item, depth + 1, 1);
            self.push(",\n");
        }
        self.indent(depth);
        self.push(&close.to_string());
    }

    fn object(&mut self, entries: &[Entry], depth: usize) {
        self.push("{\n");
        for entry in entries {
            match entry {
                Entry::Comment(text) => {
                    self.comment(text, depth + 1);
                    continue;
                }
                Entry::Short(text) => {
                    self.indent(depth + 1);
                    self.push(text);
                }
                Entry::Prop(key, Expr::Raw(value)) if is_short(key, value) => {
                    self.indent(depth + 1);
                    self.push(key);
                }
                Entry::Prop(key, value) => {
                    self.indent(depth + 1);
                    self.push(&format!("{key}: "));
                    self.expr(value, depth + 1, 1);
                }
            }
            self.push(",\n");
        }
        self.indent(depth);
        self.push("}");
    }

    /// The last argument may begin on the line of the call if the ones before it are short.
    fn call(&mut self, callee: &str, arguments: &[Expr], depth: usize) {
        let Some((last, first)) = arguments.split_last() else {
            return self.push(&format!("{callee}()"));
        };
        let hugged = flat_all(first).filter(|first| {
            let is_short =
                self.column + callee.chars().count() + first.chars().count() + 6 <= WIDTH;
            is_short && matches!(last, Expr::Object(_) | Expr::Array(_) | Expr::Call(..))
        });
        self.push(callee);
        let has_template = matches!(last, Expr::Raw(text) if text.contains('\n'));
        match hugged.or_else(|| flat_all(first).filter(|_| has_template)) {
            Some(before) => {
                self.push("(");
                self.push(&before);
                if !before.is_empty() {
                    self.push(", ");
                }
                self.expr(last, depth, 2);
                self.push(")");
            }
            None => self.broken_call(arguments, depth),
        }
    }

    /// k6's parser takes a comma behind the last argument as well.
    fn broken_call(&mut self, arguments: &[Expr], depth: usize) {
        self.broken('(', arguments, ')', depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(statements: &[Statement]) -> (String, Vec<(usize, u32)>) {
        let mut printer = Printer::default();
        printer.statements(statements, 0);
        let marks = std::mem::take(&mut printer.marks);
        (printer.into_text(), marks)
    }

    #[test]
    fn long_things_are_broken_and_short_ones_are_not() {
        let long = |letter: &str| Expr::raw(format!("'{}'", letter.repeat(60)));
        let entries = vec![
            Entry::Short("...a".to_owned()),
            Entry::Prop("b".to_owned(), long("b")),
            Entry::Prop("c".to_owned(), Expr::Array(vec![long("c"), long("d")])),
        ];
        let call =
            Expr::Call("http.post".to_owned(), vec![Expr::raw("url"), Expr::Object(entries)]);
        let (text, marks) = printed(&[
            Statement::Comment("sends it".to_owned()),
            Statement::Line("res = ".to_owned(), Expr::Marked(7, Box::new(call))),
            Statement::Line(
                String::new(),
                Expr::Call("f".to_owned(), vec![Expr::raw("1"), Expr::Object(vec![])]),
            ),
        ]);
        insta::assert_snapshot!(text, @r"
        // sends it
        res = http.post(url, {
          ...a,
          b: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
          c: [
            'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',
            'dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',
          ],
        });
        f(1, {});
        ");
        assert_eq!(marks, [(7, 2)]);
    }
}
