//! The columns of results: the same definitions are the same columns, which are made once.

use std::rc::Rc;

use super::definition::{self, Reading};
use super::packet::{Fields, malformed};
use crate::chunk::Format;
use crate::column::{Column, Columns};
use crate::failure::Failure;

/// The most bytes that the definitions of a result may have.
const DEFINITIONS_MAX: usize = 16 << 20;

/// The shapes of results that a session remembers; of more, the one that was used least lately is forgotten.
const SHAPES_MAX: usize = 8;

/// The shapes that a session remembers, and the definitions that are coming in.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    all: Vec<Shape>,
    definitions: Vec<u8>,
}

/// The columns of a result that came before, and the definitions that they were made of.
#[derive(Debug)]
struct Shape {
    definitions: Vec<u8>,
    format: Format,
    columns: Columns,
}

impl Shapes {
    /// The definitions of another result come in.
    pub(super) fn begin(&mut self) {
        self.definitions.clear();
    }

    /// The definition of a column came in.
    pub(super) fn push(&mut self, packet: &[u8]) -> Result<(), Failure> {
        if self.definitions.len() + packet.len() > DEFINITIONS_MAX {
            return Err(malformed());
        }
        self.definitions.extend_from_slice(&(packet.len() as u32).to_le_bytes());
        self.definitions.extend_from_slice(packet);
        Ok(())
    }

    /// The columns of these definitions.
    pub(super) fn end(&mut self, format: Format, reading: Reading) -> Result<Columns, Failure> {
        let is_same =
            |shape: &Shape| shape.format == format && shape.definitions == self.definitions;
        if let Some(at) = self.all.iter().position(is_same) {
            self.all[..=at].rotate_right(1);
            return Ok(Rc::clone(&self.all[0].columns));
        }
        let mut fields = Fields(&self.definitions);
        let mut columns: Vec<Column> = Vec::new();
        while let Some(size) = fields.long() {
            let packet = fields.take(size as usize).ok_or_else(malformed)?;
            columns.push(definition::read(packet, format, reading).ok_or_else(malformed)?);
        }
        let columns: Columns = columns.into();
        self.all.truncate(SHAPES_MAX - 1);
        let definitions = self.definitions.clone();
        self.all.insert(0, Shape { definitions, format, columns: Rc::clone(&columns) });
        Ok(columns)
    }
}
