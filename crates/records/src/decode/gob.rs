//! Go's binary stream: types are learnt from the stream, fields are matched by name.

use rustc_hash::FxHashMap;

use super::{Fault, text};
use crate::{
    Record, Timestamp,
    input::{Input, RECORD_SIZE_MAX},
};

/// Types that a stream may define; a result needs four.
const TYPES_MAX: usize = 1024;
/// Bytes that a type's definition may have.
const DEFINITION_SIZE_MAX: usize = 1 << 20;
/// Values within values.
const DEPTH_MAX: u32 = 64;
/// Seconds from year 1 to 1970.
const UNIX_EPOCH_SECONDS: i128 = 62_135_596_800;

const BYTES: i64 = 5;
const STRING: i64 = 6;

/// The definitions of the stream.
#[derive(Default)]
pub(super) struct Gob {
    types: FxHashMap<i64, Type>,
    /// How values of the type that came last are read.
    plan: Option<Plan>,
    /// Bodies and headers are passed over.
    is_without_content: bool,
}

enum Type {
    Array {
        element: i64,
    },
    Map {
        key: i64,
        element: i64,
    },
    Struct(Vec<(String, i64)>),
    /// A byte string that only its own type understands.
    Opaque,
}

struct Plan {
    id: i64,
    steps: Vec<Step>,
}

/// The treatment of a field.
#[derive(Clone, Copy)]
enum Step {
    Uint(Number),
    Int(Number),
    Text(Text),
    Body(i64),
    Timestamp,
    Headers(i64),
    Skip(i64),
}

#[derive(Clone, Copy)]
enum Number {
    Seq,
    Code,
    Latency,
    BytesOut,
    BytesIn,
    Planned,
}

#[derive(Clone, Copy)]
enum Text {
    Attack,
    Error,
    Method,
    Url,
}

impl Step {
    fn leave_out_content(&mut self) {
        if let Self::Body(id) | Self::Headers(id) = *self {
            *self = Self::Skip(id);
        }
    }
}

impl Gob {
    pub(super) fn leave_out_content(&mut self) {
        self.is_without_content = true;
        self.plan = None;
    }

    pub(super) fn next(&mut self, input: &mut Input, record: &mut Record) -> Result<bool, Fault> {
        let mut is_first = true;
        loop {
            if !input.ensure(1)? {
                // Definitions without a value are the beginning of a record.
                return if is_first { Ok(false) } else { Err(Fault::Cut) };
            }
            is_first = false;
            let (length, head) = length(input)?;
            let most = if self.types.is_empty() { DEFINITION_SIZE_MAX } else { RECORD_SIZE_MAX };
            if length > most as u64 {
                return Err(Fault::Bad(format!("it claims to have {length} bytes")));
            }
            let length = length as usize;
            if !input.ensure(head + length)? {
                return Err(Fault::Cut);
            }
            let mut bytes = Bytes(&input.available()[head..head + length]);
            let is_value =
                self.message(&mut bytes, record).map_err(|bad| Fault::Bad(bad.0.into()))?;
            input.consume(head + length);
            if is_value {
                return Ok(true);
            }
        }
    }

    /// Reads one message; true = it was a record.
    fn message(&mut self, bytes: &mut Bytes, record: &mut Record) -> Result<bool, Bad> {
        let id = bytes.int()?;
        if id < 0 {
            if bytes.0.len() > DEFINITION_SIZE_MAX || self.types.len() >= TYPES_MAX {
                return Err(Bad("it defines too many types"));
            }
            let id = id.checked_neg().ok_or(Bad("a type's id is out of range"))?;
            let definition = definition(bytes)?;
            self.types.insert(id, definition);
            self.plan = None;
            return Ok(false);
        }
        let plan = match &mut self.plan {
            Some(plan) if plan.id == id => plan,
            plan => {
                let mut steps = steps(&self.types, id)?;
                if self.is_without_content {
                    steps.iter_mut().for_each(Step::leave_out_content);
                }
                plan.insert(Plan { id, steps })
            }
        };
        let mut index = 0_usize;
        loop {
            let delta = bytes.uint()?;
            if delta == 0 {
                return Ok(true);
            }
            index = usize::try_from(delta)
                .ok()
                .and_then(|delta| index.checked_add(delta))
                .filter(|index| *index <= plan.steps.len())
                .ok_or(Bad("it has a field that its type doesn't have"))?;
            step(&self.types, plan.steps[index - 1], bytes, record)?;
        }
    }
}

/// The length of the next message, and how many bytes tell it.
fn length(input: &mut Input) -> Result<(u64, usize), Fault> {
    let first = input.available()[0];
    let head = match first {
        0..128 => 1,
        _ => 1 + usize::from(first.wrapping_neg()),
    };
    if head > 9 {
        return Err(Fault::Bad("it does not begin with a length".to_owned()));
    }
    if !input.ensure(head)? {
        return Err(Fault::Cut);
    }
    let length = Bytes(input.available()).uint().map_err(|bad| Fault::Bad(bad.0.to_owned()))?;
    if length == 0 {
        return Err(Fault::Bad("it is empty".to_owned()));
    }
    Ok((length, head))
}

/// The treatment of each field of the struct `id`.
fn steps(types: &FxHashMap<i64, Type>, id: i64) -> Result<Vec<Step>, Bad> {
    let Some(Type::Struct(fields)) = types.get(&id) else {
        return Err(Bad("it is not a struct whose type was defined before"));
    };
    if !fields.iter().any(|(name, _)| name == "Timestamp") {
        return Err(Bad("it is not a result of an attack"));
    }
    fields.iter().map(|(name, id)| step_of(types, name, *id)).collect()
}

fn step_of(types: &FxHashMap<i64, Type>, name: &str, id: i64) -> Result<Step, Bad> {
    let number = |number| match id {
        2 => Ok(Step::Int(number)),
        3 => Ok(Step::Uint(number)),
        _ => Err(Bad("a field that should be a number is not one")),
    };
    let text = |text| match id {
        BYTES | STRING => Ok(Step::Text(text)),
        _ => Err(Bad("a field that should be a text is not one")),
    };
    match name {
        "Attack" => text(Text::Attack),
        "Error" => text(Text::Error),
        "Method" => text(Text::Method),
        "URL" => text(Text::Url),
        "Seq" => number(Number::Seq),
        "Code" => number(Number::Code),
        "Latency" => number(Number::Latency),
        "BytesOut" => number(Number::BytesOut),
        "BytesIn" => number(Number::BytesIn),
        "Planned" => number(Number::Planned),
        "Body" if matches!(id, BYTES | STRING) => Ok(Step::Body(id)),
        "Timestamp" if matches!(types.get(&id), Some(Type::Opaque)) => Ok(Step::Timestamp),
        "Headers" if is_header(types, id) => Ok(Step::Headers(id)),
        "Body" | "Timestamp" | "Headers" => Err(Bad("a field has another type than results have")),
        _ => Ok(Step::Skip(id)),
    }
}

/// Whether the type is a map of texts to lists of texts.
fn is_header(types: &FxHashMap<i64, Type>, id: i64) -> bool {
    let Some(Type::Map { key: STRING, element }) = types.get(&id) else { return false };
    matches!(types.get(element), Some(Type::Array { element: STRING }))
}

fn step(
    types: &FxHashMap<i64, Type>,
    step: Step,
    bytes: &mut Bytes,
    record: &mut Record,
) -> Result<(), Bad> {
    match step {
        Step::Uint(number) => set(record, number, bytes.uint()?),
        Step::Int(number) => set(record, number, bytes.int()?.max(0) as u64),
        Step::Text(field) => {
            let out = match field {
                Text::Attack => &mut record.attack,
                Text::Error => &mut record.error,
                Text::Method => &mut record.method,
                Text::Url => &mut record.url,
            };
            out.clear();
            text(out, bytes.string()?);
        }
        Step::Body(_) => {
            record.body.clear();
            record.body.extend_from_slice(bytes.string()?);
        }
        Step::Timestamp => record.timestamp = timestamp(bytes.string()?)?,
        Step::Headers(_) => {
            record.headers.clear();
            for _ in 0..bytes.count()? {
                let mut name = String::new();
                text(&mut name, bytes.string()?);
                let mut values = Vec::new();
                for _ in 0..bytes.count()? {
                    let mut value = String::new();
                    text(&mut value, bytes.string()?);
                    values.push(value);
                }
                record.headers.push((name, values));
            }
        }
        Step::Skip(id) => skip(types, id, bytes, DEPTH_MAX)?,
    }
    Ok(())
}

fn set(record: &mut Record, number: Number, value: u64) {
    match number {
        Number::Seq => record.seq = value,
        Number::Code => record.code = u16::try_from(value).unwrap_or(u16::MAX),
        Number::Latency => record.latency = value,
        Number::BytesOut => record.bytes_out = value,
        Number::BytesIn => record.bytes_in = value,
        Number::Planned => record.planned = Some(value).filter(|planned| *planned > 0),
    }
}

/// Go's binary form of a time.
fn timestamp(bytes: &[u8]) -> Result<Timestamp, Bad> {
    let ((1, 15) | (2, 16)) = (bytes.first().copied().unwrap_or(0), bytes.len()) else {
        return Err(Bad("its timestamp is of a kind that we don't know"));
    };
    let seconds = i64::from_be_bytes(bytes[1..9].try_into().expect("it has 8 bytes"));
    let ns = u32::from_be_bytes(bytes[9..13].try_into().expect("it has 4 bytes"));
    let zone = i16::from_be_bytes(bytes[13..15].try_into().expect("it has 2 bytes"));
    let unix_ns = (i128::from(seconds) - UNIX_EPOCH_SECONDS) * 1_000_000_000 + i128::from(ns);
    let unix_ns = u64::try_from(unix_ns.max(0)).map_err(|_| Bad("its timestamp is too large"))?;
    let timestamp = Timestamp::from_unix_ns(unix_ns);
    // -1 means UTC, and no zone is a day away.
    let is_zone = zone != -1 && zone.unsigned_abs() < 24 * 60;
    Ok(if is_zone { timestamp.in_zone(zone) } else { timestamp })
}

/// Passes over a value that is not needed.
fn skip(types: &FxHashMap<i64, Type>, id: i64, bytes: &mut Bytes, depth: u32) -> Result<(), Bad> {
    let Some(depth) = depth.checked_sub(1) else { return Err(Bad("it is nested too deeply")) };
    match id {
        1..=4 => drop(bytes.uint()?),
        BYTES | STRING => drop(bytes.string()?),
        7 => {
            bytes.uint()?;
            bytes.uint()?;
        }
        8 => {
            if !bytes.string()?.is_empty() {
                bytes.int()?;
                bytes.string()?;
            }
        }
        _ => match types.get(&id) {
            None => return Err(Bad("it has a field of a type that was not defined")),
            Some(Type::Opaque) => drop(bytes.string()?),
            Some(Type::Array { element }) => {
                for _ in 0..bytes.count()? {
                    skip(types, *element, bytes, depth)?;
                }
            }
            Some(Type::Map { key, element }) => {
                for _ in 0..bytes.count()? {
                    skip(types, *key, bytes, depth)?;
                    skip(types, *element, bytes, depth)?;
                }
            }
            Some(Type::Struct(fields)) => {
                let mut index = 0_u64;
                loop {
                    let delta = bytes.uint()?;
                    if delta == 0 {
                        break;
                    }
                    index = index.saturating_add(delta);
                    let field = usize::try_from(index - 1).ok().and_then(|at| fields.get(at));
                    let (_, id) = field.ok_or(Bad("it has a field that its type doesn't have"))?;
                    skip(types, *id, bytes, depth)?;
                }
            }
        },
    }
    Ok(())
}

/// Reads the definition of a type: Go's `wireType`, a struct of which one field is set.
fn definition(bytes: &mut Bytes) -> Result<Type, Bad> {
    let kind = bytes.uint()?;
    if !(1..=4).contains(&kind) {
        return if (5..=7).contains(&kind) {
            Ok(Type::Opaque)
        } else {
            Err(Bad("a type is of no kind"))
        };
    }
    let mut numbers = [0; 2];
    let mut fields = Vec::new();
    let mut field = 0;
    loop {
        let delta = bytes.uint()?;
        if delta == 0 {
            break;
        }
        field += delta.min(4);
        match (field, kind) {
            (1, _) => drop(named(bytes)?),
            (2, 3) => {
                for _ in 0..bytes.count()? {
                    fields.push(named(bytes)?);
                }
            }
            (2 | 3, _) => numbers[field as usize - 2] = bytes.int()?,
            _ => return Err(Bad("a type has a field that types don't have")),
        }
    }
    let [first, second] = numbers;
    Ok(match kind {
        1 | 2 => Type::Array { element: first },
        3 => Type::Struct(fields),
        _ => Type::Map { key: first, element: second },
    })
}

/// A struct of a name and an id.
fn named(bytes: &mut Bytes) -> Result<(String, i64), Bad> {
    let mut named = (String::new(), 0);
    let mut field = 0;
    loop {
        let delta = bytes.uint()?;
        if delta == 0 {
            return Ok(named);
        }
        field += delta.min(3);
        match field {
            1 => text(&mut named.0, bytes.string()?),
            2 => named.1 = bytes.int()?,
            _ => return Err(Bad("a type has a field that types don't have")),
        }
    }
}

/// The fault of a message.
struct Bad(&'static str);

const SHORT: Bad = Bad("it ends too early");

/// The bytes of a message that are still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn uint(&mut self) -> Result<u64, Bad> {
        let (&first, rest) = self.0.split_first().ok_or(SHORT)?;
        if first < 128 {
            self.0 = rest;
            return Ok(u64::from(first));
        }
        let length = usize::from(first.wrapping_neg());
        if length > 8 {
            return Err(Bad("a number has more than 64 bits"));
        }
        let (digits, rest) = rest.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(digits.iter().fold(0, |sum, digit| sum << 8 | u64::from(*digit)))
    }

    fn int(&mut self) -> Result<i64, Bad> {
        let value = self.uint()?;
        let magnitude = (value >> 1) as i64;
        Ok(if value & 1 == 1 { !magnitude } else { magnitude })
    }

    /// A byte string.
    fn string(&mut self) -> Result<&'a [u8], Bad> {
        let length = usize::try_from(self.uint()?).map_err(|_| SHORT)?;
        let (string, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(string)
    }

    /// How many elements follow; each has at least one byte.
    fn count(&mut self) -> Result<u64, Bad> {
        let count = self.uint()?;
        if count > self.0.len() as u64 { Err(SHORT) } else { Ok(count) }
    }
}
