//! Answers: OK, refusals, columns and rows.

use mysql_common::constants::{CapabilityFlags, StatusFlags};

use super::bind::number;
use super::database::Done;
use super::row::{put_cell, put_length};
use super::table::{Kind, Table};
use super::trouble::Trouble;
use super::wire::Packets;

const TINY: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const LONGLONG: u8 = 8;
const INT24: u8 = 9;
const DECIMAL: u8 = 0xf6;
const VAR_STRING: u8 = 0xfd;

const NOT_NULL: u16 = 1;
const PRIMARY_KEY: u16 = 2;
const UNSIGNED: u16 = 32;
const BINARY: u16 = 128;
const AUTO_INCREMENT: u16 = 512;

/// utf8mb4_general_ci
const TEXT_SET: u16 = 45;
const BINARY_SET: u16 = 63;

/// A column of a result.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    table: String,
    name: String,
    code: u8,
    length: u32,
    flags: u16,
}

impl Heading {
    /// A column of a table.
    pub(crate) fn of(table_name: &str, table: &Table, index: usize, alias: Option<&str>) -> Self {
        let column = &table.columns[index];
        let (code, length, mut flags) = match column.kind {
            Kind::Int { bits, unsigned } => {
                let (code, length) = match bits {
                    8 => (TINY, 4),
                    16 => (SHORT, 6),
                    24 => (INT24, 9),
                    32 => (LONG, 11),
                    _ => (LONGLONG, 20),
                };
                (code, length, if unsigned { UNSIGNED } else { 0 })
            }
            Kind::Text { most } => (VAR_STRING, most as u32 * 4, 0),
        };
        for (is_so, flag) in [
            (!column.is_nullable, NOT_NULL),
            (table.key == Some(index), PRIMARY_KEY),
            (column.is_counted, AUTO_INCREMENT),
        ] {
            flags |= if is_so { flag } else { 0 };
        }
        let name = alias.unwrap_or(&column.name).to_owned();
        Self { table: table_name.to_owned(), name, code, length, flags }
    }

    /// A text that is in no table.
    pub(crate) fn text(name: impl Into<String>) -> Self {
        let (table, name) = (String::new(), name.into());
        Self { table, name, code: VAR_STRING, length: 1024, flags: 0 }
    }

    /// A number of 64 bits.
    pub(crate) fn long(name: impl Into<String>) -> Self {
        Self { code: LONGLONG, length: 21, flags: BINARY, ..Self::text(name) }
    }

    /// A number with as many digits as it takes.
    pub(crate) fn decimal(name: impl Into<String>) -> Self {
        Self { code: DECIMAL, length: 42, flags: BINARY, ..Self::text(name) }
    }

    /// The same type by another name, which may be NULL: MIN and MAX.
    pub(crate) fn renamed(self, name: impl Into<String>) -> Self {
        let flags = self.flags & UNSIGNED;
        Self { table: String::new(), name: name.into(), flags, ..self }
    }

    fn is_number(&self) -> bool {
        self.code != VAR_STRING
    }

    fn write(&self, out: &mut Vec<u8>) {
        let schema = if self.table.is_empty() { "" } else { "demo" };
        for text in ["def", schema, &self.table, &self.table, &self.name, &self.name] {
            put_cell(out, Some(text.as_bytes()));
        }
        out.push(12);
        let set = if self.is_number() { BINARY_SET } else { TEXT_SET };
        out.extend_from_slice(&set.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.push(self.code);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&[0, 0, 0]);
    }
}

/// How a client wants to be answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) capabilities: CapabilityFlags,
    pub(crate) status: StatusFlags,
}

impl Manner {
    fn has(self, flag: CapabilityFlags) -> bool {
        self.capabilities.contains(flag)
    }

    pub(crate) fn ok(self, packets: &mut Packets, done: Done) {
        let found = self.has(CapabilityFlags::CLIENT_FOUND_ROWS);
        let rows = if found { done.matched } else { done.changed };
        packets.packet(|out| {
            out.push(0);
            put_length(out, rows);
            put_length(out, done.last_id);
            out.extend_from_slice(&self.status.bits().to_le_bytes());
            out.extend_from_slice(&[0, 0]);
        });
    }

    /// The columns of a result.
    pub(crate) fn headings(self, packets: &mut Packets, headings: &[Heading]) {
        packets.packet(|out| put_length(out, headings.len() as u64));
        headings.iter().for_each(|heading| packets.packet(|out| heading.write(out)));
        if !self.has(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
            self.eof(packets);
        }
    }

    /// No more rows come.
    pub(crate) fn end(self, packets: &mut Packets) {
        if !self.has(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
            return self.eof(packets);
        }
        packets.packet(|out| {
            out.extend_from_slice(&[0xfe, 0, 0]);
            out.extend_from_slice(&self.status.bits().to_le_bytes());
            out.extend_from_slice(&[0, 0]);
        });
    }

    pub(crate) fn eof(self, packets: &mut Packets) {
        packets.packet(|out| {
            out.extend_from_slice(&[0xfe, 0, 0]);
            out.extend_from_slice(&self.status.bits().to_le_bytes());
        });
    }

    /// A statement is prepared.
    pub(crate) fn prepared(
        self,
        packets: &mut Packets,
        id: u32,
        arguments: usize,
        headings: &[Heading],
    ) {
        packets.packet(|out| {
            out.push(0);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&(headings.len() as u16).to_le_bytes());
            out.extend_from_slice(&(arguments as u16).to_le_bytes());
            out.extend_from_slice(&[0, 0, 0]);
        });
        let argument = Heading::text("?");
        for (all, count) in [(&[][..], arguments), (headings, headings.len())] {
            for index in 0..count {
                packets.packet(|out| all.get(index).unwrap_or(&argument).write(out));
            }
            if count > 0 && !self.has(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
                self.eof(packets);
            }
        }
    }
}

/// A refusal.
pub(crate) fn refuse(packets: &mut Packets, trouble: &Trouble) {
    packets.packet(|out| {
        out.push(0xff);
        out.extend_from_slice(&trouble.code.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(trouble.state.as_bytes());
        out.extend_from_slice(trouble.text.as_bytes());
    });
}

/// A row: its cells as texts.
pub(crate) fn row(
    packets: &mut Packets,
    headings: &[Heading],
    cells: &[Option<&[u8]>],
    is_binary: bool,
) {
    packets.packet(|out| {
        if !is_binary {
            return cells.iter().for_each(|cell| put_cell(out, *cell));
        }
        out.push(0);
        let nulls = out.len();
        // The first two bits are not used.
        out.resize(nulls + (cells.len() + 2).div_ceil(8), 0);
        for (index, (cell, heading)) in cells.iter().zip(headings).enumerate() {
            let Some(text) = cell else {
                out[nulls + (index + 2) / 8] |= 1 << ((index + 2) % 8);
                continue;
            };
            let size = match heading.code {
                TINY => 1,
                SHORT => 2,
                LONG | INT24 => 4,
                LONGLONG => 8,
                _ => {
                    put_cell(out, Some(text));
                    continue;
                }
            };
            let value = number(text).expect("a column of numbers keeps numbers");
            out.extend_from_slice(&value.to_le_bytes()[..size]);
        }
    });
}
