//! Archives: a script, all that it imports and opens, and its options in one tar file, as k6 writes and reads them.
//!
//! ```text
//! metadata.json            options, environment, where the script was
//! data                     the main script
//! file/home/nobody/a.js    every file of the test by its absolute path; the main script's is a link to data
//! https/host/path          modules that came from there
//! ```

mod metadata;
mod path;
mod read;
mod write;

pub(crate) use self::{
    metadata::{Metadata, STDIN},
    path::anonymous,
    read::{Archive, ReadError, read},
    write::{Contents, entry_of, entry_of_remote, write, write_at},
};

/// Whether these are the first bytes of a tar file: its mark is at byte 257.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}
