//! Numbers and texts of random characters.

use super::row::{
    Argument, Kind, Out, Rng, Row, argument, between, list, number, pattern, plain, text, whole,
    with,
};

/// The greatest whole number up to which JavaScript has all of them.
const SAFE: f64 = 9_007_199_254_740_991.0;

const fn range(min: f64, max: f64) -> [Argument; 2] {
    [argument("min", Kind::Number(min)), argument("max", Kind::Number(max))]
}

const INTS: &[Argument] = &[argument("ints", Kind::Numbers(None))];
const UINTS: &[Argument] = &[argument("uints", Kind::Numbers(None))];
const STRS: &[Argument] = &[argument("strs", Kind::Texts(None))];
const COUNT: &[Argument] = &[argument("count", Kind::Number(3.0))];
const STR: &[Argument] = &[argument("str", Kind::Text(None))];

/// `0x` and `bytes` random bytes.
fn hex(rng: &mut Rng, bytes: usize) -> String {
    let mut text = String::from("0x");
    for _ in 0..2 * bytes {
        text.push(rng.digit(16));
    }
    text
}

/// A whole number in a range of the script's.
fn in_range(rng: &mut Rng, (min, max): (f64, f64)) -> Result<Out, String> {
    let (from, to) = (min.ceil() as i64, max.floor() as i64);
    if from > to {
        return Err(format!("there is no whole number from {min} to {max}"));
    }
    Ok((whole(rng, from, to) as f64).into())
}

/// One of the script's values.
fn chosen<T: Clone + Into<Out>>(rng: &mut Rng, values: &[T], name: &str) -> Result<Out, String> {
    match rng.choice(values) {
        Some(value) => Ok(value.clone().into()),
        None => Err(format!("{name} is empty")),
    }
}

fn shuffled<T: Clone + Into<Out>>(rng: &mut Rng, values: &[T]) -> Out {
    let mut all = values.to_vec();
    rng.shuffle(&mut all);
    all.into()
}

/// As version 4 has it, from this generator, so that a seed gives the same ones.
pub(super) fn uuid(rng: &mut Rng) -> String {
    let bits = rng.u128(..) & !(0xf << 76) & !(0b11 << 62) | 0x4 << 76 | 0b10 << 62;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

pub(super) const NUMBERS: &[Row] = &[
    plain("boolean", |rng| Out::Flag(rng.bool())),
    number("float32", |rng| f64::from((rng.f64() * f64::from(f32::MAX)) as f32)),
    with("float32Range", &range(3.0, 5.0), |asked| {
        let most = f64::from(f32::MAX);
        let (min, max) = asked.given.range(-most, most)?;
        // A number that rounding moves out of the range is at its end.
        Ok(f64::from(between(asked.rng, min, max) as f32).clamp(min, max).into())
    }),
    number("float64", |rng| rng.f64() * f64::MAX),
    with("float64Range", &range(3.0, 5.0), |asked| {
        let (min, max) = asked.given.range(f64::MIN, f64::MAX)?;
        Ok(between(asked.rng, min, max).clamp(min, max).into())
    }),
    text("hexUint128", |rng| hex(rng, 16)),
    text("hexUint16", |rng| hex(rng, 2)),
    text("hexUint256", |rng| hex(rng, 32)),
    text("hexUint32", |rng| hex(rng, 4)),
    text("hexUint64", |rng| hex(rng, 8)),
    text("hexUint8", |rng| hex(rng, 1)),
    number("int16", |rng| rng.i16(..).into()),
    number("int32", |rng| rng.i32(..).into()),
    number("int64", |rng| rng.i64(..) as f64),
    number("int8", |rng| rng.i8(..).into()),
    with("intRange", &range(3.0, 5.0), |asked| {
        let range = asked.given.range(-SAFE, SAFE)?;
        in_range(asked.rng, range)
    }),
    with("number", &range(-2_147_483_648.0, 2_147_483_647.0), |asked| {
        let range = asked.given.range(-SAFE, SAFE)?;
        in_range(asked.rng, range)
    }),
    with("randomInt", INTS, |asked| chosen(asked.rng, asked.given.numbers(0), "ints")),
    with("randomUint", UINTS, |asked| {
        let values = asked.given.numbers(0);
        if values.iter().any(|&value| value < 0.0) {
            return Err("uints has a number below 0".to_owned());
        }
        chosen(asked.rng, values, "uints")
    }),
    with("shuffleInts", INTS, |asked| Ok(shuffled(asked.rng, asked.given.numbers(0)))),
    number("uint16", |rng| rng.u16(..).into()),
    number("uint32", |rng| rng.u32(..).into()),
    number("uint64", |rng| rng.u64(..) as f64),
    number("uint8", |rng| rng.u8(..).into()),
    with("uintRange", &range(0.0, 4_294_967_295.0), |asked| {
        let range = asked.given.range(0.0, SAFE)?;
        in_range(asked.rng, range)
    }),
];

pub(super) const STRINGS: &[Row] = &[
    list("digit", "0|1|2|3|4|5|6|7|8|9"),
    with("digitN", COUNT, |asked| {
        let count = asked.given.count(0, "count")?;
        Ok((0..count).map(|_| asked.rng.digit(10)).collect::<String>().into())
    }),
    text("letter", |rng| rng.alphabetic().to_string()),
    with("letterN", COUNT, |asked| {
        let count = asked.given.count(0, "count")?;
        Ok((0..count).map(|_| asked.rng.alphabetic()).collect::<String>().into())
    }),
    with("lexify", STR, |asked| {
        let put = |sign| if sign == '?' { asked.rng.alphabetic() } else { sign };
        Ok(asked.given.text(0).chars().map(put).collect::<String>().into())
    }),
    with("numerify", STR, |asked| {
        let put = |sign| if sign == '#' { asked.rng.digit(10) } else { sign };
        Ok(asked.given.text(0).chars().map(put).collect::<String>().into())
    }),
    with("randomString", STRS, |asked| chosen(asked.rng, asked.given.texts(0), "strs")),
    with("shuffleStrings", STRS, |asked| Ok(shuffled(asked.rng, asked.given.texts(0)))),
    text("uuid", uuid),
];

/// Like a pattern, but the first digit is none of 0 and 1.
pub(super) fn number_like(rng: &mut Rng, text: &str) -> String {
    let first = rng.u8(2..10);
    format!("{first}{}", pattern(rng, text))
}
