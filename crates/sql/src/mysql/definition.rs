//! The definition of a column by its server, as a [`Column`].

use mysql_common::constants::{ColumnFlags, ColumnType};

use super::packet::Fields;
use super::row::form;
use crate::chunk::Format;
use crate::column::{Column, Kind};

/// The collation of bytes that are no text.
const BINARY: u16 = 63;

/// How columns are read, as the DSN says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// The zone of dates by its number, if they are to be moments.
    pub(super) zone: Option<u8>,
    /// Names have their table before them.
    pub(super) with_alias: bool,
}

/// Reads the definition of a column.
pub(super) fn read(packet: &[u8], format: Format, reading: Reading) -> Option<Column> {
    let mut fields = Fields(packet);
    let (_catalog, _schema) = (fields.text()?, fields.text()?);
    let (alias, table) = (fields.text()?, fields.text()?);
    let (name, _original) = (fields.text()?, fields.text()?);
    fields.number()?;
    let collation = fields.short()?;
    let length = fields.long()?;
    let code = fields.byte()?;
    let flags = ColumnFlags::from_bits_truncate(fields.short()?);
    let decimals = fields.byte()?;
    let code = ColumnType::try_from(code).ok()?;
    let is_binary = collation == BINARY;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let name = if reading.with_alias && !alias.is_empty() {
        format!("{}.{}", text(alias), text(name))
    } else {
        text(name)
    };
    let is_dated = has_fraction(code);
    Some(Column {
        name,
        type_name: type_name(code, flags, is_binary).to_owned(),
        kind: match format {
            Format::MySqlBinary => binary_kind(code, flags, is_binary, decimals, reading.zone),
            _ => text_kind(code, flags, is_binary, reading.zone),
        },
        nullable: Some(!flags.contains(ColumnFlags::NOT_NULL_FLAG)),
        length: Some(u64::from(length)),
        decimals: (is_dated || is_decimal(code)).then_some(u32::from(decimals)),
        table: text(table),
    })
}

fn is_decimal(code: ColumnType) -> bool {
    matches!(code, ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL)
}

fn has_fraction(code: ColumnType) -> bool {
    matches!(
        code,
        ColumnType::MYSQL_TYPE_TIMESTAMP
            | ColumnType::MYSQL_TYPE_DATETIME
            | ColumnType::MYSQL_TYPE_TIME
    )
}

/// The kind of a value in the text protocol.
fn text_kind(code: ColumnType, flags: ColumnFlags, is_binary: bool, zone: Option<u8>) -> Kind {
    match code {
        ColumnType::MYSQL_TYPE_TINY
        | ColumnType::MYSQL_TYPE_SHORT
        | ColumnType::MYSQL_TYPE_INT24
        | ColumnType::MYSQL_TYPE_LONG
        | ColumnType::MYSQL_TYPE_YEAR => Kind::Int,
        ColumnType::MYSQL_TYPE_LONGLONG => eight_bytes(flags),
        ColumnType::MYSQL_TYPE_FLOAT => Kind::Single,
        ColumnType::MYSQL_TYPE_DOUBLE => Kind::Float,
        ColumnType::MYSQL_TYPE_DATE
        | ColumnType::MYSQL_TYPE_NEWDATE
        | ColumnType::MYSQL_TYPE_DATETIME
        | ColumnType::MYSQL_TYPE_TIMESTAMP => zone.map_or(Kind::Raw, Kind::Time),
        _ => string_kind(code, is_binary),
    }
}

fn eight_bytes(flags: ColumnFlags) -> Kind {
    if flags.contains(ColumnFlags::UNSIGNED_FLAG) { Kind::UInt } else { Kind::Int }
}

/// The kind of a value that travels as a text in both protocols.
fn string_kind(code: ColumnType, is_binary: bool) -> Kind {
    match code {
        ColumnType::MYSQL_TYPE_BIT
        | ColumnType::MYSQL_TYPE_GEOMETRY
        | ColumnType::MYSQL_TYPE_VECTOR => Kind::Bytes,
        ColumnType::MYSQL_TYPE_TINY_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB
        | ColumnType::MYSQL_TYPE_BLOB
        | ColumnType::MYSQL_TYPE_VARCHAR
        | ColumnType::MYSQL_TYPE_VAR_STRING
        | ColumnType::MYSQL_TYPE_STRING
            if is_binary =>
        {
            Kind::Bytes
        }
        _ => Kind::Raw,
    }
}

/// The kind of a value in the binary protocol.
fn binary_kind(
    code: ColumnType,
    flags: ColumnFlags,
    is_binary: bool,
    decimals: u8,
    zone: Option<u8>,
) -> Kind {
    let is_unsigned = flags.contains(ColumnFlags::UNSIGNED_FLAG);
    let either = |signed, unsigned| Kind::Own(if is_unsigned { unsigned } else { signed });
    let digits = if decimals > 6 { 0 } else { decimals };
    match code {
        ColumnType::MYSQL_TYPE_TINY => either(form::I8, form::U8),
        ColumnType::MYSQL_TYPE_SHORT => either(form::I16, form::U16),
        ColumnType::MYSQL_TYPE_YEAR => Kind::Own(form::U16),
        ColumnType::MYSQL_TYPE_INT24 | ColumnType::MYSQL_TYPE_LONG => either(form::I32, form::U32),
        ColumnType::MYSQL_TYPE_LONGLONG => eight_bytes(flags),
        ColumnType::MYSQL_TYPE_FLOAT => Kind::Single,
        ColumnType::MYSQL_TYPE_DOUBLE => Kind::Float,
        ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE => {
            zone.map_or(Kind::Own(form::DATE), Kind::Time)
        }
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP => {
            zone.map_or(Kind::Own(form::DATE_TIME + digits), Kind::Time)
        }
        ColumnType::MYSQL_TYPE_TIME => Kind::Own(form::TIME + digits),
        ColumnType::MYSQL_TYPE_NULL => Kind::Own(form::NULL),
        _ => string_kind(code, is_binary),
    }
}

/// The name that the Go driver gives a type.
fn type_name(code: ColumnType, flags: ColumnFlags, is_binary: bool) -> &'static str {
    let is_unsigned = flags.contains(ColumnFlags::UNSIGNED_FLAG);
    let number = |signed, unsigned| if is_unsigned { unsigned } else { signed };
    let text = |bytes, text| if is_binary { bytes } else { text };
    match code {
        ColumnType::MYSQL_TYPE_BIT => "BIT",
        ColumnType::MYSQL_TYPE_BLOB => text("BLOB", "TEXT"),
        ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE => "DATE",
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_DATETIME2 => "DATETIME",
        ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => "DECIMAL",
        ColumnType::MYSQL_TYPE_DOUBLE => "DOUBLE",
        ColumnType::MYSQL_TYPE_ENUM => "ENUM",
        ColumnType::MYSQL_TYPE_FLOAT => "FLOAT",
        ColumnType::MYSQL_TYPE_GEOMETRY => "GEOMETRY",
        ColumnType::MYSQL_TYPE_INT24 => number("MEDIUMINT", "UNSIGNED MEDIUMINT"),
        ColumnType::MYSQL_TYPE_JSON => "JSON",
        ColumnType::MYSQL_TYPE_LONG => number("INT", "UNSIGNED INT"),
        ColumnType::MYSQL_TYPE_LONG_BLOB => text("LONGBLOB", "LONGTEXT"),
        ColumnType::MYSQL_TYPE_LONGLONG => number("BIGINT", "UNSIGNED BIGINT"),
        ColumnType::MYSQL_TYPE_MEDIUM_BLOB => text("MEDIUMBLOB", "MEDIUMTEXT"),
        ColumnType::MYSQL_TYPE_NULL => "NULL",
        ColumnType::MYSQL_TYPE_SET => "SET",
        ColumnType::MYSQL_TYPE_SHORT => number("SMALLINT", "UNSIGNED SMALLINT"),
        ColumnType::MYSQL_TYPE_STRING if flags.contains(ColumnFlags::ENUM_FLAG) => "ENUM",
        ColumnType::MYSQL_TYPE_STRING if flags.contains(ColumnFlags::SET_FLAG) => "SET",
        ColumnType::MYSQL_TYPE_STRING => text("BINARY", "CHAR"),
        ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2 => "TIME",
        ColumnType::MYSQL_TYPE_TIMESTAMP | ColumnType::MYSQL_TYPE_TIMESTAMP2 => "TIMESTAMP",
        ColumnType::MYSQL_TYPE_TINY => number("TINYINT", "UNSIGNED TINYINT"),
        ColumnType::MYSQL_TYPE_TINY_BLOB => text("TINYBLOB", "TINYTEXT"),
        ColumnType::MYSQL_TYPE_VARCHAR | ColumnType::MYSQL_TYPE_VAR_STRING => {
            text("VARBINARY", "VARCHAR")
        }
        ColumnType::MYSQL_TYPE_YEAR => "YEAR",
        ColumnType::MYSQL_TYPE_VECTOR => "VECTOR",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let reading = Reading { zone: None, with_alias: true };
            let _ = read(&bytes, Format::MySqlText, reading);
            let _ = read(&[&[0; 6], &bytes[..]].concat(), Format::MySqlBinary, reading);
        }
    }
}
