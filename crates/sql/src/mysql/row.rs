//! Rows as they came, read.

use super::packet::Fields;
use super::zone::Date;
use crate::cell::Cell;
use crate::column::{Column, Kind};

/// The forms of [`Kind::Own`]: values of the binary protocol that have a form of their own.
pub(super) mod form {
    pub(in super::super) const NULL: u8 = 0;
    pub(in super::super) const I8: u8 = 1;
    pub(in super::super) const U8: u8 = 2;
    pub(in super::super) const I16: u8 = 3;
    pub(in super::super) const U16: u8 = 4;
    pub(in super::super) const I32: u8 = 5;
    pub(in super::super) const U32: u8 = 6;
    /// A date that stays a text.
    pub(in super::super) const DATE: u8 = 7;
    /// A date with a time that stays a text; plus the digits of its fraction.
    pub(in super::super) const DATE_TIME: u8 = 10;
    /// A time span that stays a text; plus the digits of its fraction.
    pub(in super::super) const TIME: u8 = 20;
    pub(super) const DATE_TIME_END: u8 = DATE_TIME + 6;
    pub(super) const TIME_END: u8 = TIME + 6;
}

/// Gives the sink the values of a row of the text protocol.
#[inline]
pub(crate) fn read_text<E>(
    row: &[u8],
    columns: &[Column],
    mut sink: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), Option<E>> {
    let mut fields = Fields(row);
    for (index, column) in columns.iter().enumerate() {
        if fields.0.first() == Some(&0xfb) {
            fields.0 = &fields.0[1..];
            sink(index, Cell::Null).map_err(Some)?;
            continue;
        }
        let text = fields.text().ok_or(None)?;
        let cell = match column.kind {
            Kind::Int => Cell::Int(int(text).ok_or(None)?),
            Kind::Raw => Cell::Raw(text),
            Kind::Bytes => Cell::Bytes(text),
            Kind::UInt => Cell::UInt(natural(text).ok_or(None)?),
            kind => rarer(kind, text).ok_or(None)?,
        };
        sink(index, cell).map_err(Some)?;
    }
    if fields.0.is_empty() { Ok(()) } else { Err(None) }
}

fn rarer(kind: Kind, text: &[u8]) -> Option<Cell<'_>> {
    let number = || std::str::from_utf8(text).ok();
    Some(match kind {
        Kind::Float => Cell::Float(number()?.parse().ok()?),
        Kind::Single => Cell::Single(number()?.parse().ok()?),
        Kind::Time(zone) => Cell::Time(Date::read(text)?.moment(zone)),
        _ => Cell::Raw(text),
    })
}

/// A whole number of digits alone.
#[inline]
fn natural(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return long(text);
    }
    let mut sum = 0_u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum = sum * 10 + u64::from(digit);
    }
    Some(sum)
}

/// A whole number that may not fit: zeros in front are no fault.
#[cold]
fn long(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A whole number with a sign.
#[inline]
fn int(text: &[u8]) -> Option<i64> {
    match text {
        [b'-', digits @ ..] => 0_i64.checked_sub_unsigned(natural(digits)?),
        digits => i64::try_from(natural(digits)?).ok(),
    }
}

/// Gives the sink the values of a row of the binary protocol.
#[inline]
pub(crate) fn read_binary<E>(
    row: &[u8],
    columns: &[Column],
    mut sink: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), Option<E>> {
    let mut fields = Fields(row);
    fields.byte().ok_or(None)?;
    // Two bits of the map are not used.
    let nulls = fields.take((columns.len() + 9) / 8).ok_or(None)?;
    for (index, column) in columns.iter().enumerate() {
        let bit = index + 2;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            sink(index, Cell::Null).map_err(Some)?;
            continue;
        }
        let cell = match column.kind {
            Kind::Int => Cell::Int(fields.array().map(i64::from_le_bytes).ok_or(None)?),
            Kind::UInt => Cell::UInt(fields.array().map(u64::from_le_bytes).ok_or(None)?),
            Kind::Float => Cell::Float(fields.array().map(f64::from_le_bytes).ok_or(None)?),
            Kind::Single => Cell::Single(fields.array().map(f32::from_le_bytes).ok_or(None)?),
            Kind::Bytes => Cell::Bytes(fields.text().ok_or(None)?),
            Kind::Time(zone) => Cell::Time(date(&mut fields).ok_or(None)?.moment(zone)),
            Kind::Own(form @ form::DATE..) => {
                let mut text = Text::default();
                let written = if form >= form::TIME {
                    span(&mut fields, form, &mut text)
                } else {
                    date(&mut fields).map(|date| dated(date, form, &mut text))
                };
                written.ok_or(None)?;
                sink(index, Cell::Raw(text.bytes())).map_err(Some)?;
                continue;
            }
            Kind::Own(form) => small(&mut fields, form).ok_or(None)?,
            _ => Cell::Raw(fields.text().ok_or(None)?),
        };
        sink(index, cell).map_err(Some)?;
    }
    if fields.0.is_empty() { Ok(()) } else { Err(None) }
}

#[inline]
fn small<'a>(fields: &mut Fields<'a>, form: u8) -> Option<Cell<'a>> {
    Some(match form {
        form::I32 => Cell::Int(fields.array().map(i32::from_le_bytes)?.into()),
        form::U32 => Cell::Int(fields.long()?.into()),
        form::I16 => Cell::Int(fields.array().map(i16::from_le_bytes)?.into()),
        form::U16 => Cell::Int(fields.short()?.into()),
        form::I8 => Cell::Int(fields.array().map(i8::from_le_bytes)?.into()),
        form::U8 => Cell::Int(fields.byte()?.into()),
        _ => Cell::Null,
    })
}

/// A date of 0, 4, 7 or 11 bytes: what is left out is zero.
fn date(fields: &mut Fields<'_>) -> Option<Date> {
    let size = fields.byte()?;
    let mut fields = Fields(fields.take(usize::from(size))?);
    let mut date = Date::default();
    if size >= 4 {
        (date.year, date.month, date.day) = (fields.short()?, fields.byte()?, fields.byte()?);
    }
    if size >= 7 {
        (date.hour, date.minute, date.second) = (fields.byte()?, fields.byte()?, fields.byte()?);
    }
    if size >= 11 {
        date.micros = fields.long()?;
    }
    (matches!(size, 0 | 4 | 7 | 11) && date.is_sound()).then_some(date)
}

/// Room for a date or a time span as a text.
#[derive(Default)]
struct Text {
    bytes: [u8; 32],
    size: usize,
}

impl Text {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.size] = byte;
        self.size += 1;
    }

    /// A number of at least `width` digits.
    fn digits(&mut self, number: u32, width: u32) {
        let width = width.max(number.checked_ilog10().map_or(1, |log| log + 1));
        for place in (0..width).rev() {
            self.push(b'0' + (number / 10_u32.pow(place) % 10) as u8);
        }
    }

    fn fraction(&mut self, micros: u32, digits: u8) {
        if digits > 0 {
            self.push(b'.');
            let digits = u32::from(digits.min(6));
            self.digits(micros / 10_u32.pow(6 - digits), digits);
        }
    }

    fn clock(&mut self, hours: u32, minute: u8, second: u8) {
        self.digits(hours, 2);
        self.push(b':');
        self.digits(minute.into(), 2);
        self.push(b':');
        self.digits(second.into(), 2);
    }
}

fn dated(date: Date, form: u8, text: &mut Text) {
    text.digits(date.year.into(), 4);
    text.push(b'-');
    text.digits(date.month.into(), 2);
    text.push(b'-');
    text.digits(date.day.into(), 2);
    if form >= form::DATE_TIME {
        text.push(b' ');
        text.clock(date.hour.into(), date.minute, date.second);
        text.fraction(date.micros, form.min(form::DATE_TIME_END) - form::DATE_TIME);
    }
}

/// A time span of 0, 8 or 12 bytes.
fn span(fields: &mut Fields<'_>, form: u8, text: &mut Text) -> Option<()> {
    let size = fields.byte()?;
    let mut fields = Fields(fields.take(usize::from(size))?);
    let (mut hours, mut minute, mut second, mut micros) = (0, 0, 0, 0);
    match size {
        0 => {}
        8 | 12 => {
            if fields.byte()? != 0 {
                text.push(b'-');
            }
            let days = fields.long()?;
            (hours, minute, second) = (fields.byte()?, fields.byte()?, fields.byte()?);
            if size == 12 {
                micros = fields.long()?;
            }
            if days > 10_000 || minute > 59 || second > 59 || micros > 999_999 {
                return None;
            }
            text.clock(days * 24 + u32::from(hours), minute, second);
        }
        _ => return None,
    }
    if size == 0 {
        text.clock(hours.into(), minute, second);
    }
    text.fraction(micros, form.min(form::TIME_END) - form::TIME);
    Some(())
}

#[cfg(test)]
mod tests;
