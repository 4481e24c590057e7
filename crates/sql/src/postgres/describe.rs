//! `RowDescription`: the columns of a result.

use crate::column::{Column, Kind};

/// The forms of [`Kind::Time`].
pub(super) mod form {
    pub(in super::super) const DATE: u8 = 0;
    pub(in super::super) const TIME: u8 = 1;
    pub(in super::super) const TIMESTAMP: u8 = 2;
}

/// The kind of an OID and the name of its type, as the Go driver says it.
fn known(oid: u32) -> (Kind, &'static str) {
    match oid {
        16 => (Kind::Bool, "BOOL"),
        17 => (Kind::Bytes, "BYTEA"),
        18 => (Kind::Text, "CHAR"),
        20 => (Kind::Int, "INT8"),
        21 => (Kind::Int, "INT2"),
        23 => (Kind::Int, "INT4"),
        25 => (Kind::Text, "TEXT"),
        700 => (Kind::Float, "FLOAT4"),
        701 => (Kind::Float, "FLOAT8"),
        1042 => (Kind::Text, "BPCHAR"),
        1043 => (Kind::Text, "VARCHAR"),
        1082 => (Kind::Time(form::DATE), "DATE"),
        1083 => (Kind::Time(form::TIME), "TIME"),
        1114 => (Kind::Time(form::TIMESTAMP), "TIMESTAMP"),
        1184 => (Kind::Time(form::TIMESTAMP), "TIMESTAMPTZ"),
        1266 => (Kind::Time(form::TIME), "TIMETZ"),
        19 => (Kind::Raw, "NAME"),
        26 => (Kind::Raw, "OID"),
        114 => (Kind::Raw, "JSON"),
        142 => (Kind::Raw, "XML"),
        600 => (Kind::Raw, "POINT"),
        650 => (Kind::Raw, "CIDR"),
        790 => (Kind::Raw, "MONEY"),
        829 => (Kind::Raw, "MACADDR"),
        869 => (Kind::Raw, "INET"),
        1005 => (Kind::Raw, "_INT2"),
        1007 => (Kind::Raw, "_INT4"),
        1009 => (Kind::Raw, "_TEXT"),
        1015 => (Kind::Raw, "_VARCHAR"),
        1016 => (Kind::Raw, "_INT8"),
        1186 => (Kind::Raw, "INTERVAL"),
        1560 => (Kind::Raw, "BIT"),
        1562 => (Kind::Raw, "VARBIT"),
        1700 => (Kind::Raw, "NUMERIC"),
        2278 => (Kind::Raw, "VOID"),
        2950 => (Kind::Raw, "UUID"),
        3802 => (Kind::Raw, "JSONB"),
        _ => (Kind::Raw, ""),
    }
}

/// The columns; `None` if the message is not sound.
pub(super) fn columns(body: &[u8]) -> Option<Vec<Column>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let count = u16::from_be_bytes(*count);
    let mut columns = Vec::with_capacity(usize::from(count).min(rest.len() / 19 + 1));
    for _ in 0..count {
        let end = memchr::memchr(0, rest)?;
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        let (fixed, behind) = rest[end + 1..].split_first_chunk::<18>()?;
        rest = behind;
        let oid = u32::from_be_bytes([fixed[6], fixed[7], fixed[8], fixed[9]]);
        let size = i16::from_be_bytes([fixed[10], fixed[11]]);
        let modifier = i32::from_be_bytes([fixed[12], fixed[13], fixed[14], fixed[15]]);
        let (kind, type_name) = known(oid);
        let (length, decimals) = match oid {
            1042 | 1043 if modifier > 4 => (u64::try_from(modifier - 4).ok(), None),
            1700 if modifier > 4 => {
                let packed = (modifier - 4).cast_unsigned();
                (Some(u64::from(packed >> 16)), Some(packed & 0xffff))
            }
            _ => (u64::try_from(size).ok(), None),
        };
        columns.push(Column {
            name,
            type_name: type_name.to_owned(),
            kind,
            nullable: None,
            length,
            decimals,
            table: String::new(),
        });
    }
    rest.is_empty().then_some(columns)
}
