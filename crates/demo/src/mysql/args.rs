//! Arguments of prepared statements, as `COM_STMT_EXECUTE` has them.

use mysql_common::constants::ColumnType;

use super::bind::Argument;
use super::trouble::Trouble;

/// A type of an argument: its code, and whether a number has no sign.
pub(crate) type Type = (u8, bool);

/// Bytes, from the front on.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// A text with its length before it.
    fn text(&mut self) -> Option<&'a [u8]> {
        let length = match self.array::<1>()?[0] {
            0xfc => u64::from(u16::from_le_bytes(self.array()?)),
            0xfd => {
                let [a, b, c] = self.array()?;
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            0xfe => u64::from_le_bytes(self.array()?),
            length => u64::from(length),
        };
        self.take(usize::try_from(length).ok()?)
    }
}

/// The arguments in the part of a packet behind the number of iterations. `types` are those of the last execution, and are renewed
/// if the client names others; `long` are values that came before, in packets of their own.
pub(crate) fn read(
    packet: &[u8],
    count: usize,
    types: &mut Vec<Type>,
    long: &[(usize, Vec<u8>)],
) -> Result<Vec<Argument>, Trouble> {
    let mut read = || {
        let mut bytes = Bytes(packet);
        let mut all = Vec::with_capacity(count);
        if count == 0 {
            return Some(all);
        }
        let nulls = bytes.take(count.div_ceil(8))?;
        if bytes.array::<1>()?[0] == 1 {
            let named = bytes.take(2 * count)?;
            *types = named.chunks(2).map(|pair| (pair[0], pair[1] & 0x80 != 0)).collect();
        }
        for index in 0..count {
            let kind = *types.get(index)?;
            if let Some((_, value)) = long.iter().find(|(at, _)| *at == index) {
                all.push(Argument::Text(value.as_slice().into()));
            } else if nulls[index / 8] & (1 << (index % 8)) != 0 {
                all.push(Argument::Null);
            } else {
                all.push(argument(&mut bytes, kind)?);
            }
        }
        Some(all)
    };
    read().ok_or_else(|| Trouble::new(1835, "HY000", "Malformed communication packet."))
}

fn argument(bytes: &mut Bytes<'_>, (kind, is_unsigned): Type) -> Option<Argument> {
    let text = |text: String| Argument::Text(text.into_bytes().into());
    let int = |signed: i64, unsigned: u64| match is_unsigned {
        false => Argument::Int(signed),
        true => i64::try_from(unsigned).map_or_else(|_| text(unsigned.to_string()), Argument::Int),
    };
    Some(match ColumnType::try_from(kind).ok()? {
        ColumnType::MYSQL_TYPE_NULL => Argument::Null,
        ColumnType::MYSQL_TYPE_TINY => {
            let [byte] = bytes.array()?;
            int(i64::from(byte as i8), u64::from(byte))
        }
        ColumnType::MYSQL_TYPE_SHORT | ColumnType::MYSQL_TYPE_YEAR => {
            let value = u16::from_le_bytes(bytes.array()?);
            int(i64::from(value as i16), u64::from(value))
        }
        ColumnType::MYSQL_TYPE_LONG | ColumnType::MYSQL_TYPE_INT24 => {
            let value = u32::from_le_bytes(bytes.array()?);
            int(i64::from(value as i32), u64::from(value))
        }
        ColumnType::MYSQL_TYPE_LONGLONG => {
            let value = u64::from_le_bytes(bytes.array()?);
            int(value as i64, value)
        }
        ColumnType::MYSQL_TYPE_FLOAT => text(f32::from_le_bytes(bytes.array()?).to_string()),
        ColumnType::MYSQL_TYPE_DOUBLE => text(f64::from_le_bytes(bytes.array()?).to_string()),
        ColumnType::MYSQL_TYPE_DATE
        | ColumnType::MYSQL_TYPE_DATETIME
        | ColumnType::MYSQL_TYPE_TIMESTAMP => text(moment(bytes)?),
        ColumnType::MYSQL_TYPE_STRING
        | ColumnType::MYSQL_TYPE_VAR_STRING
        | ColumnType::MYSQL_TYPE_VARCHAR
        | ColumnType::MYSQL_TYPE_BLOB
        | ColumnType::MYSQL_TYPE_TINY_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB
        | ColumnType::MYSQL_TYPE_DECIMAL
        | ColumnType::MYSQL_TYPE_NEWDECIMAL
        | ColumnType::MYSQL_TYPE_JSON
        | ColumnType::MYSQL_TYPE_ENUM => Argument::Text(bytes.text()?.into()),
        _ => return None,
    })
}

/// A date, or a date with a time, as MySQL writes it.
fn moment(bytes: &mut Bytes<'_>) -> Option<String> {
    let length = bytes.array::<1>()?[0];
    let fields = bytes.take(usize::from(length))?;
    let [low, high, month, day, ref time @ ..] = *fields else {
        return (length == 0).then(|| "0000-00-00 00:00:00".to_owned());
    };
    let date = format!("{:04}-{month:02}-{day:02}", u16::from_le_bytes([low, high]));
    Some(match *time {
        [] => date,
        [hour, minute, second] => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        [hour, minute, second, a, b, c, d] => {
            let micros = u32::from_le_bytes([a, b, c, d]);
            format!("{date} {hour:02}:{minute:02}:{second:02}.{micros:06}")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_make_it_panic() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let mut packet = vec![0; rng.usize(0..40)];
            rng.fill(&mut packet);
            let mut types = Vec::new();
            let _ = read(&packet, rng.usize(0..5), &mut types, &[]);
        }
    }

    #[test]
    fn types_of_the_last_execution_hold() {
        let mut types = Vec::new();
        let first = [0, 1, 0x08, 0, 0xfd, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b'];
        let all = vec![Argument::Int(5), Argument::Text(b"ab".as_slice().into())];
        assert_eq!(read(&first, 2, &mut types, &[]).unwrap(), all);
        let second = [0b10, 0, 255, 255, 255, 255, 255, 255, 255, 255];
        let all = vec![Argument::Int(-1), Argument::Null];
        assert_eq!(read(&second, 2, &mut types, &[]).unwrap(), all);
        let refused = read(&second[..5], 2, &mut types, &[]).unwrap_err();
        assert_eq!(refused.code, 1835);
    }
}
