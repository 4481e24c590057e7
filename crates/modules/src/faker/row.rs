//! A function of the extension as a row of a table: its name, its arguments and how its value is made.

use brunt_quickjs::{Ctx, JsResult, Value};

/// The generator: small and quick, as made-up names need no protection from guessing.
pub(super) type Rng = fastrand::Rng;

/// How long texts and lists may be that a script asks for.
pub(super) const MOST: f64 = 1_000_000.0;

pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) make: Make,
}

pub(super) enum Make {
    /// One entry of a list; `|` divides them.
    Pick(&'static str),
    Text(fn(&mut Rng) -> String),
    Number(fn(&mut Rng) -> f64),
    Plain(fn(&mut Rng) -> Out),
    With(&'static [Argument], fn(&mut Asked<'_>) -> Result<Out, String>),
}

pub(super) const fn list(name: &'static str, entries: &'static str) -> Row {
    Row { name, make: Make::Pick(entries) }
}

pub(super) const fn text(name: &'static str, make: fn(&mut Rng) -> String) -> Row {
    Row { name, make: Make::Text(make) }
}

pub(super) const fn number(name: &'static str, make: fn(&mut Rng) -> f64) -> Row {
    Row { name, make: Make::Number(make) }
}

pub(super) const fn plain(name: &'static str, make: fn(&mut Rng) -> Out) -> Row {
    Row { name, make: Make::Plain(make) }
}

pub(super) const fn with(
    name: &'static str,
    arguments: &'static [Argument],
    make: fn(&mut Asked<'_>) -> Result<Out, String>,
) -> Row {
    Row { name, make: Make::With(arguments, make) }
}

impl Row {
    pub(super) fn arguments(&self) -> &'static [Argument] {
        match self.make {
            Make::With(arguments, _) => arguments,
            _ => &[],
        }
    }
}

/// An argument of a function.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// The type of an argument, and its value if a script leaves it out; `None` if it must not.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Number(f64),
    Flag(bool),
    Text(Option<&'static str>),
    Numbers(Option<&'static [f64]>),
    Texts(Option<&'static [&'static str]>),
}

pub(super) const fn argument(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind }
}

impl Kind {
    pub(super) fn otherwise(self) -> Option<Given> {
        match self {
            Self::Number(number) => Some(Given::Number(number)),
            Self::Flag(flag) => Some(Given::Flag(flag)),
            Self::Text(text) => text.map(|text| Given::Text(text.to_owned())),
            Self::Numbers(numbers) => numbers.map(|numbers| Given::Numbers(numbers.to_vec())),
            Self::Texts(texts) => {
                texts.map(|texts| Given::Texts(texts.iter().map(|&text| text.to_owned()).collect()))
            }
        }
    }
}

/// An argument as it was given.
pub(super) enum Given {
    Number(f64),
    Flag(bool),
    Text(String),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl Given {
    /// Reads one; the inner error says what is wrong with it.
    pub(super) fn read<'js>(
        argument: &Argument,
        value: &Value<'js>,
    ) -> JsResult<'js, Result<Self, String>> {
        Ok(match argument.kind {
            Kind::Number(_) => finite(value)?.map(Self::Number),
            Kind::Flag(_) => Ok(Self::Flag(value.truthy())),
            Kind::Text(_) => Ok(Self::Text(value.to_string_lossy()?)),
            Kind::Numbers(_) => entries(value, finite)?.map(Self::Numbers),
            Kind::Texts(_) => {
                entries(value, |entry| Ok(Ok(entry.to_string_lossy()?)))?.map(Self::Texts)
            }
        })
    }
}

fn finite<'js>(value: &Value<'js>) -> JsResult<'js, Result<f64, String>> {
    let number = value.to_number()?;
    Ok(if number.is_finite() { Ok(number) } else { Err("is not a number".to_owned()) })
}

fn entries<'js, T>(
    value: &Value<'js>,
    read: impl Fn(&Value<'js>) -> JsResult<'js, Result<T, String>>,
) -> JsResult<'js, Result<Vec<T>, String>> {
    if !value.is_array() {
        return Ok(Err("is not an array".to_owned()));
    }
    let length = value.length()?;
    if f64::from(length) > MOST {
        return Ok(Err(format!("has more than {MOST} entries")));
    }
    let mut all = Vec::new();
    for index in 0..length {
        match read(&value.get_index(index)?)? {
            Ok(entry) => all.push(entry),
            Err(why) => return Ok(Err(format!("has an entry that {why}"))),
        }
    }
    Ok(Ok(all))
}

/// A call: the generator and the arguments, each of its kind.
pub(super) struct Asked<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) given: Values<'a>,
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Values<'a>(pub(super) &'a [Given]);

impl<'a> Values<'a> {
    pub(super) fn number(&self, index: usize) -> f64 {
        match self.0.get(index) {
            Some(Given::Number(number)) => *number,
            _ => 0.0,
        }
    }

    pub(super) fn flag(&self, index: usize) -> bool {
        matches!(self.0.get(index), Some(Given::Flag(true)))
    }

    pub(super) fn text(&self, index: usize) -> &'a str {
        match self.0.get(index) {
            Some(Given::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn numbers(&self, index: usize) -> &'a [f64] {
        match self.0.get(index) {
            Some(Given::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    pub(super) fn texts(&self, index: usize) -> &'a [String] {
        match self.0.get(index) {
            Some(Given::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// A number of things to make.
    pub(super) fn count(&self, index: usize, name: &str) -> Result<usize, String> {
        let number = self.number(index);
        if (0.0..=MOST).contains(&number) {
            Ok(number as usize)
        } else {
            Err(format!("{name} is {number}: it goes from 0 to {MOST}"))
        }
    }

    /// The arguments `min` and `max`, which lie between these.
    pub(super) fn range(&self, least: f64, most: f64) -> Result<(f64, f64), String> {
        let (min, max) = (self.number(0), self.number(1));
        if min > max {
            return Err(format!("min, which is {min}, is above max, which is {max}"));
        }
        if min < least || max > most {
            return Err(format!("min and max go from {least} to {most}"));
        }
        Ok((min, max))
    }
}

/// A value as it was made.
pub(super) enum Out {
    Fixed(&'static str),
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<Self>),
    Record(Vec<(String, Self)>),
}

impl From<&'static str> for Out {
    fn from(text: &'static str) -> Self {
        Self::Fixed(text)
    }
}

impl From<String> for Out {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Out {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Out {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl Out {
    /// An object.
    pub(super) fn record<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Record(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(super) fn show(self, ctx: Ctx<'_>) -> JsResult<'_> {
        match self {
            Self::Fixed(text) => ctx.string(text),
            Self::Text(text) => ctx.string(&text),
            Self::Number(number) => Ok(ctx.number(number)),
            Self::Flag(flag) => Ok(ctx.bool(flag)),
            Self::List(values) => {
                let values: Result<Vec<_>, _> =
                    values.into_iter().map(|value| value.show(ctx)).collect();
                ctx.array_from(values?)
            }
            Self::Record(members) => {
                let object = ctx.object()?;
                for (name, value) in members {
                    object.define(&name, value.show(ctx)?)?;
                }
                Ok(object)
            }
        }
    }
}

/// One entry of a list that has `|` between its entries.
pub(super) fn pick(rng: &mut Rng, list: &'static str) -> &'static str {
    let count = memchr::memchr_iter(b'|', list.as_bytes()).count() + 1;
    list.split('|').nth(rng.usize(..count)).unwrap_or_default()
}

/// The same entry of a list as the index says, for lists that belong together.
pub(super) fn pick_pair(rng: &mut Rng, list: &'static str) -> (&'static str, &'static str) {
    pick(rng, list).split_once('=').unwrap_or_default()
}

/// The text with a digit for each `#` and a small letter for each `?`.
pub(super) fn pattern(rng: &mut Rng, text: &str) -> String {
    let put = |sign| match sign {
        '#' => rng.digit(10),
        '?' => rng.lowercase(),
        other => other,
    };
    text.chars().map(put).collect()
}

/// From one to the other, the ends included.
pub(super) fn whole(rng: &mut Rng, from: i64, to: i64) -> i64 {
    rng.i64(from..=to)
}

/// From one to the other.
pub(super) fn between(rng: &mut Rng, from: f64, to: f64) -> f64 {
    // Halves, as the whole way from the least to the greatest is no number.
    let share = rng.f64();
    from * (1.0 - share) + to * share
}

/// With this many digits after the point.
pub(super) fn rounded(number: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (number * unit).round() / unit
}

/// With a capital first letter.
pub(super) fn capital(word: &str) -> String {
    let mut signs = word.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// This many digits.
pub(super) fn number_text(rng: &mut Rng, digits: usize) -> String {
    (0..digits).map(|_| rng.digit(10)).collect()
}
