//! `&amp;` and the other names and numbers of characters.

use std::sync::LazyLock;

/// A name without its `&`, and what it stands for.
type Entity = (&'static str, char, Option<char>);

/// All of HTML's names, sorted. Those that may do without `;` stand twice.
static ENTITIES: LazyLock<Vec<Entity>> = LazyLock::new(|| {
    let lines = include_str!("entities.txt").lines();
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            let name = words.next()?;
            let mut letters =
                words.map(|hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32));
            Some((name, letters.next()??, letters.next().flatten()))
        })
        .collect()
});

/// No name that does without `;` is longer.
const BARE_MAX: usize = 6;

/// What the numbers 128 to 159 stand for: they were taken from Windows' code page 1252.
const WINDOWS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// Where the names of each first letter begin, `A` to `z`, and where those of the last end.
static STARTS: LazyLock<[usize; 59]> = LazyLock::new(|| {
    std::array::from_fn(|letter| {
        ENTITIES.partition_point(|entity| usize::from(entity.0.as_bytes()[0]) < letter + 65)
    })
});

fn named(name: &str) -> Option<(char, Option<char>)> {
    let letter = usize::from(*name.as_bytes().first()?).checked_sub(65)?;
    let (start, end) = (*STARTS.get(letter)?, *STARTS.get(letter + 1)?);
    let kin = &ENTITIES[start..end];
    let place = kin.binary_search_by(|entity| entity.0.cmp(name)).ok()?;
    let (_, first, second) = kin[place];
    Some((first, second))
}

/// What the reference at the start of a text stands for, and how long it is. `text` begins behind the `&`; in
/// attributes `&lt=` is none, and nor is a name that goes on after what would be one.
pub(super) fn reference(text: &str, in_attribute: bool) -> Option<(char, Option<char>, usize)> {
    let bytes = text.as_bytes();
    if bytes.first() == Some(&b'#') {
        return number(bytes);
    }
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let length = letters + usize::from(bytes.get(letters) == Some(&b';'));
    let name = &text[..length];
    if letters == 0 || (in_attribute && length == letters && bytes.get(length) == Some(&b'=')) {
        return None;
    }
    if let Some((first, second)) = named(name) {
        return Some((first, second, length));
    }
    if in_attribute {
        return None;
    }
    let longest = (length - 1).min(BARE_MAX);
    (2..=longest).rev().find_map(|length| {
        let (first, second) = named(&name[..length])?;
        Some((first, second, length))
    })
}

fn number(bytes: &[u8]) -> Option<(char, Option<char>, usize)> {
    let is_hex = matches!(bytes.get(1), Some(b'x' | b'X'));
    let (start, radix) = if is_hex { (2, 16) } else { (1, 10) };
    let mut number = 0_u32;
    let mut end = start;
    while let Some(digit) = bytes.get(end).and_then(|&byte| char::from(byte).to_digit(radix)) {
        if number <= 0x10_ffff {
            number = number * radix + digit;
        }
        end += 1;
    }
    if end == start {
        return None;
    }
    end += usize::from(bytes.get(end) == Some(&b';'));
    let letter = match number {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => WINDOWS[number as usize - 0x80],
        _ => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some((letter, None, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_names_or_numbers() {
        let cases = [
            ("amp;x", false, Some(('&', None, 4))),
            ("ampx", false, Some(('&', None, 3))),
            ("ampx", true, None),
            ("amp=x", true, None),
            ("amp=x", false, Some(('&', None, 3))),
            ("notit;", false, Some(('¬', None, 3))),
            ("notin;", false, Some(('∉', None, 6))),
            ("nGt;", false, Some(('\u{226b}', Some('\u{20d2}'), 4))),
            ("#65;", false, Some(('A', None, 4))),
            ("#x41", false, Some(('A', None, 4))),
            ("#x;", false, None),
            ("#128;", false, Some(('€', None, 5))),
            ("#xd800;", false, Some(('\u{fffd}', None, 7))),
            ("#99999999999;", false, Some(('\u{fffd}', None, 13))),
            ("nope;", false, None),
            ("", false, None),
        ];
        for (text, in_attribute, expected) in cases {
            assert_eq!(reference(text, in_attribute), expected, "{text}");
        }
        assert_eq!(ENTITIES.len(), 2231);
        assert!(ENTITIES.is_sorted());
    }
}
