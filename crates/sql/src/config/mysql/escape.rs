//! Percent-encoding, undone as Go undoes it: what is no escape is an error.

/// `%xx` as bytes; `+` as a blank, if `has_plus`. The error is Go's text.
pub(super) fn undone(text: &str, has_plus: bool) -> Result<String, String> {
    if !text.contains(['%', '+']) {
        return Ok(text.to_owned());
    }
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'%' => {
                let digits = bytes.get(at..at + 2).and_then(|two| std::str::from_utf8(two).ok());
                let is_hex = |two: &&str| two.bytes().all(|digit| digit.is_ascii_hexdigit());
                let value = digits.filter(is_hex).and_then(|two| u8::from_str_radix(two, 16).ok());
                let Some(value) = value else {
                    let shown = &bytes[at - 1..bytes.len().min(at + 2)];
                    let shown = String::from_utf8_lossy(shown);
                    return Err(format!("invalid URL escape {shown:?}"));
                };
                out.push(value);
                at += 2;
            }
            b'+' if has_plus => out.push(b' '),
            other => out.push(other),
        }
    }
    String::from_utf8(out).map_err(|_| "invalid URL escape: no UTF-8".to_owned())
}
