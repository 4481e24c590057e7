//! Numbers, bytes and names as both servers spell them in statements.

/// Appends a whole number.
pub(crate) fn push_int(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_natural(out, value.unsigned_abs());
}

/// Appends a whole number without a sign.
pub(crate) fn push_natural(out: &mut Vec<u8>, mut value: u64) {
    let (mut digits, mut at) = ([0; 20], 20);
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends two hexadecimal digits for each byte.
pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS[usize::from(value & 15)];
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// Appends a name between these quotes: backticks or double quotes.
pub(crate) fn push_name(out: &mut Vec<u8>, name: &str, quote: u8) {
    out.push(quote);
    for byte in name.bytes() {
        if byte == quote {
            out.push(quote);
        }
        out.push(byte);
    }
    out.push(quote);
}

/// Appends the name of a table, perhaps with its schema. A name between quotes stays as it is.
pub(crate) fn push_table(out: &mut Vec<u8>, table: &str, quote: u8) {
    let bytes = table.as_bytes();
    if bytes.len() > 1 && bytes.starts_with(&[quote]) && bytes.ends_with(&[quote]) {
        out.extend_from_slice(bytes);
        return;
    }
    for (index, part) in table.split('.').enumerate() {
        if index > 0 {
            out.push(b'.');
        }
        push_name(out, part, quote);
    }
}
