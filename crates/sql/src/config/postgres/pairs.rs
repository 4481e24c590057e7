//! `host=here password='a b' dbname=shop`.

/// Names and values in their order.
pub(super) type Pairs = Vec<(String, String)>;

/// Reads pairs. Blanks stand between them, and may stand around `=`; in quotes and outside, a backslash takes the next character as it is.
pub(super) fn read(text: &str) -> Result<Pairs, String> {
    let (mut pairs, mut rest) = (Pairs::new(), text.chars().peekable());
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.peek().is_none() {
            return Ok(pairs);
        }
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| *c != '=' && !c.is_whitespace()) {
            name.push(c);
        }
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.next() != Some('=') {
            // The first word may be a password that was torn from its pair: of the others only.
            return Err(format!("missing \"=\" after {name:?} in connection info string"));
        }
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        let mut value = String::new();
        if rest.next_if_eq(&'\'').is_some() {
            loop {
                match rest.next() {
                    Some('\'') => break,
                    Some('\\') => value.extend(rest.next()),
                    Some(c) => value.push(c),
                    None => {
                        return Err(
                            "unterminated quoted string literal in connection string".to_owned()
                        );
                    }
                }
            }
        } else {
            while let Some(c) = rest.next_if(|c| !c.is_whitespace()) {
                if c != '\\' {
                    value.push(c);
                    continue;
                }
                match rest.next() {
                    Some(c) => value.push(c),
                    None => return Err("missing character after backslash".to_owned()),
                }
            }
        }
        pairs.push((name, value));
    }
}
