//! Reading a GraphQL document: one operation with fields, aliases, arguments and variables.

use serde_json::{Map, Value};

/// Deepest nesting of selections and values.
const DEPTH_MAX: usize = 16;

/// An operation.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) mutation: bool,
    /// Default values of its variables.
    pub(super) defaults: Map<String, Value>,
    pub(super) fields: Vec<Field>,
}

/// A selected field.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name in the answer.
    pub(super) alias: String,
    pub(super) name: String,
    arguments: Vec<(String, Input)>,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug)]
enum Input {
    Literal(Value),
    Variable(String),
}

impl Field {
    /// The value of an argument, a variable looked up; `None` if it is not given or null.
    pub(super) fn argument(&self, name: &str, variables: &Map<String, Value>) -> Option<Value> {
        let (_, input) = self.arguments.iter().find(|(known, _)| known == name)?;
        let value = match input {
            Input::Literal(value) => value.clone(),
            Input::Variable(variable) => variables.get(variable)?.clone(),
        };
        (!value.is_null()).then_some(value)
    }
}

/// Where a document cannot be read, counted from 1.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) message: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Reads a document with one operation.
pub(super) fn parse(text: &str) -> Result<Document, SyntaxError> {
    let mut reader = Reader { text, at: 0 };
    reader.document().map_err(|message| {
        let before = &text[..reader.at.min(text.len())];
        let line_begin = before.rfind('\n').map_or(0, |at| at + 1);
        SyntaxError {
            message: format!("Syntax Error: {message}"),
            line: before.matches('\n').count() + 1,
            column: before[line_begin..].chars().count() + 1,
        }
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Document, String> {
        let mut document = Document { mutation: false, defaults: Map::new(), fields: Vec::new() };
        if self.peek() != Some('{') {
            document.mutation = match self.name()? {
                "query" => false,
                "mutation" => true,
                other => {
                    return Err(format!(
                        "unexpected '{other}'; only queries and mutations are known"
                    ));
                }
            };
            if self.peek().is_some_and(is_name_start) {
                self.name()?;
            }
            if self.take('(') {
                document.defaults = self.variables()?;
            }
        }
        document.fields = self.selection(0)?;
        match self.peek() {
            None => Ok(document),
            Some(other) => Err(format!("unexpected '{other}' after the operation")),
        }
    }

    /// `$a: Int!, $b: [String] = "x")`; types are read and not checked.
    fn variables(&mut self) -> Result<Map<String, Value>, String> {
        let mut defaults = Map::new();
        while !self.take(')') {
            self.expect('$')?;
            let name = self.name()?.to_owned();
            self.expect(':')?;
            while self.take('[') {}
            self.name()?;
            while self.take('!') || self.take(']') {}
            if self.take('=')
                && let Input::Literal(value) = self.value(0)?
            {
                defaults.insert(name, value);
            }
        }
        Ok(defaults)
    }

    fn selection(&mut self, depth: usize) -> Result<Vec<Field>, String> {
        if depth > DEPTH_MAX {
            return Err("nested too deeply".to_owned());
        }
        self.expect('{')?;
        let mut fields = Vec::new();
        while !self.take('}') {
            let mut name = self.name()?.to_owned();
            let alias = name.clone();
            if self.take(':') {
                self.name()?.clone_into(&mut name);
            }
            let mut arguments = Vec::new();
            if self.take('(') {
                while !self.take(')') {
                    let argument = self.name()?.to_owned();
                    self.expect(':')?;
                    arguments.push((argument, self.value(0)?));
                }
            }
            let nested = self.peek() == Some('{');
            let inner = if nested { self.selection(depth + 1)? } else { Vec::new() };
            fields.push(Field { alias, name, arguments, fields: inner });
        }
        if fields.is_empty() {
            return Err("a selection is empty".to_owned());
        }
        Ok(fields)
    }

    fn value(&mut self, depth: usize) -> Result<Input, String> {
        if depth > DEPTH_MAX {
            return Err("nested too deeply".to_owned());
        }
        match self.peek() {
            Some('$') => {
                self.at += 1;
                Ok(Input::Variable(self.name()?.to_owned()))
            }
            Some('[') => {
                self.at += 1;
                let mut values = Vec::new();
                while !self.take(']') {
                    match self.value(depth + 1)? {
                        Input::Literal(value) => values.push(value),
                        Input::Variable(_) => return Err("no variables in lists here".to_owned()),
                    }
                }
                Ok(Input::Literal(values.into()))
            }
            Some('"') => self.string(),
            Some(c) if is_name_start(c) => Ok(Input::Literal(match self.name()? {
                "true" => true.into(),
                "false" => false.into(),
                "null" => Value::Null,
                symbol => symbol.into(),
            })),
            _ => self.number(),
        }
    }

    fn string(&mut self) -> Result<Input, String> {
        let rest = &self.text[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        match values.next() {
            Some(Ok(text)) => {
                self.at += values.byte_offset();
                Ok(Input::Literal(text.into()))
            }
            _ => Err("a string does not end, or has a wrong escape".to_owned()),
        }
    }

    fn number(&mut self) -> Result<Input, String> {
        let rest = &self.text[self.at..];
        let size = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let digits = &rest[..size.unwrap_or(rest.len())];
        let number = serde_json::from_str(digits).map_err(|_| match rest.chars().next() {
            Some(other) => format!("a value cannot begin with '{other}'"),
            None => "the document ends where a value should be".to_owned(),
        })?;
        self.at += digits.len();
        Ok(Input::Literal(Value::Number(number)))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.peek() {
            Some(c) if is_name_start(c) => {}
            Some(other) => return Err(format!("expected a name, found '{other}'")),
            None => return Err("expected a name, found the end".to_owned()),
        }
        let rest = &self.text[self.at..];
        let size = rest.find(|c: char| !(is_name_start(c) || c.is_ascii_digit()));
        let name = &rest[..size.unwrap_or(rest.len())];
        self.at += name.len();
        Ok(name)
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) {
            return Ok(());
        }
        match self.peek() {
            Some(other) => Err(format!("expected '{wanted}', found '{other}'")),
            None => Err(format!("expected '{wanted}', found the end")),
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// The next letter that is neither space, comma nor comment.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            let next = rest.chars().next()?;
            if next == '#' {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if next.is_whitespace() || next == ',' || next == '\u{feff}' {
                self.at += next.len_utf8();
            } else {
                return Some(next);
            }
        }
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_commas_and_nesting_are_read() {
        let text = "# all\nquery Q { a(x: [1, \"}\"], y: -1.5e3, z: null) , b: c { d } }";
        let document = parse(text).unwrap();
        assert_eq!(document.fields[1].alias, "b");
        assert_eq!(document.fields[1].fields[0].name, "d");
        let none = Map::new();
        assert_eq!(document.fields[0].argument("y", &none), Some((-1500.0).into()));
        assert_eq!(document.fields[0].argument("z", &none), None);
    }

    #[test]
    fn no_cut_of_a_document_panics() {
        let text = "mutation M($id: Int! = 3) { rename(id: $id, name: \"sä\\n\") { id } }";
        for (cut, _) in text.char_indices() {
            assert!(parse(&text[..cut]).is_err(), "cut at {cut}");
        }
        assert!(parse(&"{a".repeat(100_000)).is_err());
        assert!(parse(text).is_ok());
    }
}
