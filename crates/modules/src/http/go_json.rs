//! What Go's decoder says of a text that is no JSON: scripts print it, and people search for it.

/// Why a text is no JSON: `invalid character '<' looking for beginning of value`. `None` if nothing is wrong with a
/// character of it.
pub(super) fn complaint(text: &[u8]) -> Option<String> {
    let mut scanner = Scanner { rest: text, open: Vec::new() };
    scanner.run().err().flatten()
}

/// `None`: the text ends too early.
type Complaint = Option<String>;

struct Scanner<'t> {
    rest: &'t [u8],
    /// Whether an object is open, or an array, from the outermost on.
    open: Vec<Open>,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Array,
    Object,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), Complaint> {
        self.value()?;
        while let Some(open) = self.open.last().copied() {
            // A value has ended in here.
            let (end, what) = match open {
                Open::Array => (b']', "after array element"),
                Open::Object => (b'}', "after object key:value pair"),
            };
            match self.next_visible()? {
                b',' if open == Open::Object => {
                    self.key()?;
                    self.value()?;
                }
                b',' => self.value()?,
                byte if byte == end => drop(self.open.pop()),
                other => return Err(invalid(other, what)),
            }
        }
        match self.next_visible() {
            Ok(other) => Err(invalid(other, "after top-level value")),
            Err(_) => Ok(()),
        }
    }

    fn next(&mut self) -> Result<u8, Complaint> {
        let (first, rest) = self.rest.split_first().ok_or(None)?;
        self.rest = rest;
        Ok(*first)
    }

    fn next_visible(&mut self) -> Result<u8, Complaint> {
        loop {
            let byte = self.next()?;
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(byte);
            }
        }
    }

    /// A value without what is in it, unless that is empty: objects and arrays stay open.
    fn value(&mut self) -> Result<(), Complaint> {
        loop {
            let byte = self.next_visible()?;
            match byte {
                b'{' => {
                    match self.next_visible()? {
                        b'}' => return Ok(()),
                        b'"' => self.string()?,
                        other => {
                            return Err(invalid(other, "looking for beginning of object key string"));
                        }
                    }
                    self.colon()?;
                    self.open.push(Open::Object);
                }
                b'[' => {
                    let before = self.rest;
                    if self.next_visible()? == b']' {
                        return Ok(());
                    }
                    self.rest = before;
                    self.open.push(Open::Array);
                }
                b'"' => return self.string(),
                b'-' | b'0'..=b'9' => return self.number(byte),
                b't' => return self.literal(b"rue", "true"),
                b'f' => return self.literal(b"alse", "false"),
                b'n' => return self.literal(b"ull", "null"),
                other => return Err(invalid(other, "looking for beginning of value")),
            }
        }
    }

    fn key(&mut self) -> Result<(), Complaint> {
        match self.next_visible()? {
            b'"' => self.string()?,
            other => return Err(invalid(other, "looking for beginning of object key string")),
        }
        self.colon()
    }

    fn colon(&mut self) -> Result<(), Complaint> {
        match self.next_visible()? {
            b':' => Ok(()),
            other => Err(invalid(other, "after object key")),
        }
    }

    fn string(&mut self) -> Result<(), Complaint> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let digit = self.next()?;
                            if !digit.is_ascii_hexdigit() {
                                return Err(invalid(digit, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    other => return Err(invalid(other, "in string escape code")),
                },
                byte if byte < 0x20 => return Err(invalid(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn number(&mut self, first: u8) -> Result<(), Complaint> {
        let mut first = first;
        if first == b'-' {
            first = self.next()?;
            if !first.is_ascii_digit() {
                return Err(invalid(first, "in numeric literal"));
            }
        }
        if first != b'0' {
            self.digits();
        }
        if self.rest.first() == Some(&b'.') {
            self.rest = &self.rest[1..];
            let digit = self.next()?;
            if !digit.is_ascii_digit() {
                return Err(invalid(digit, "after decimal point in numeric literal"));
            }
            self.digits();
        }
        if let Some(b'e' | b'E') = self.rest.first() {
            self.rest = &self.rest[1..];
            let mut digit = self.next()?;
            if matches!(digit, b'+' | b'-') {
                digit = self.next()?;
            }
            if !digit.is_ascii_digit() {
                return Err(invalid(digit, "in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
    }

    fn literal(&mut self, expected: &[u8], whole: &str) -> Result<(), Complaint> {
        for &byte in expected {
            let found = self.next()?;
            if found != byte {
                let expected = byte as char;
                return Err(invalid(found, &format!("in literal {whole} (expecting '{expected}')")));
            }
        }
        Ok(())
    }
}

fn invalid(byte: u8, what: &str) -> Complaint {
    let shown = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        0..0x20 | 0x7f => format!("\\x{byte:02x}"),
        // C1 controls, no-break space, soft hyphen.
        0x80..=0xa0 | 0xad => format!("\\u00{byte:02x}"),
        other => char::from(other).to_string(),
    };
    Some(format!("invalid character '{shown}' {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_those_of_go() {
        for (text, complaint) in [
            ("<html>", "invalid character '<' looking for beginning of value"),
            ("ok", "invalid character 'o' looking for beginning of value"),
            ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("nope", "invalid character 'o' in literal null (expecting 'u')"),
            ("tr\"", "invalid character '\"' in literal true (expecting 'u')"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1e+x", "invalid character 'x' in exponent of numeric literal"),
            ("01", "invalid character '1' after top-level value"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("\u{feff}{}", "invalid character '\u{ef}' looking for beginning of value"),
        ] {
            assert_eq!(super::complaint(text.as_bytes()).as_deref(), Some(complaint), "{text}");
        }
        for text in ["", "{", "[1", "\"a", "tru", "-", "{}", " [ 1 , { \"a\" : [ ] } ] ", "1.5e3"] {
            assert_eq!(super::complaint(text.as_bytes()), None, "{text}");
        }
    }
}
