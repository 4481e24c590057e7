//! Several inputs as one: a record from each in turn.

use crate::{DecodeError, Decoder, Record};

/// Takes records from several inputs in rotation, one from each, skipping those that have ended. They are not sorted.
#[derive(Debug)]
pub struct Rotation<'a> {
    decoders: Vec<Decoder<'a>>,
    is_over: Vec<bool>,
    next: usize,
}

impl<'a> Rotation<'a> {
    /// Of these inputs.
    pub fn new(decoders: Vec<Decoder<'a>>) -> Self {
        Self { is_over: vec![false; decoders.len()], decoders, next: 0 }
    }

    /// Decodes the next record into `record`; gives the index of its input, or nothing at the end of all.
    ///
    /// # Errors
    /// The errors of the input whose turn it is. That input gives nothing more; the others go on when this is called
    /// again.
    pub fn next_into(&mut self, record: &mut Record) -> Result<Option<usize>, DecodeError> {
        for _ in 0..self.decoders.len() {
            let index = self.next;
            self.next = (index + 1) % self.decoders.len();
            if self.is_over[index] {
                continue;
            }
            match self.decoders[index].next_into(record) {
                Ok(true) => return Ok(Some(index)),
                Ok(false) => self.is_over[index] = true,
                Err(error) => {
                    self.is_over[index] = true;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }
}
