//! Bytes that the whole process holds once.

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::sync::OnceLock;

use super::mapping::Mapping;

/// Files from this size on are kept as mappings: of a smaller one, a VM that writes to it copies all.
const MAPPED_FROM: u64 = 64 * 1024;

/// Bytes that do not change any more, for all VMs of all threads: a file, an element of a shared array. An `ArrayBuffer`
/// made of them ([`crate::Ctx::common_buffer`]) shows these very bytes until a script writes to it.
#[derive(Debug)]
pub struct CommonBytes {
    home: Home,
    /// The text, where the bytes are not UTF-8 as they are.
    repaired: OnceLock<Option<Box<str>>>,
    /// The text as the engine keeps strings, where that is not these bytes themselves.
    letters: OnceLock<Letters>,
}

/// A text as the engine keeps strings.
#[derive(Debug)]
enum Letters {
    /// ASCII: the text's own bytes.
    Same,
    /// All of them up to U+00FF.
    Latin1(Box<[u8]>),
    Utf16(Box<[u16]>),
}

#[derive(Debug)]
enum Home {
    Heap(Box<[u8]>),
    /// A copy that only this process has. A mapping of the file itself would end the process (SIGBUS) once another one
    /// truncates the file.
    Mapped(Mapping),
}

impl CommonBytes {
    /// Reads a file, to the end but not more than `most` bytes. Large ones go to memory of their own (Linux: a sealed
    /// memfd), from where a VM that writes copies only the pages that it writes to.
    ///
    /// # Errors
    /// The error of the file system; [`io::ErrorKind::FileTooLarge`] beyond `most`.
    pub fn read(file: &File, most: u64) -> io::Result<Self> {
        let mut file = file.take(most.saturating_add(1));
        let size = file.get_ref().metadata()?.len();
        if size > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if size >= MAPPED_FROM
            && let Some(mapping) = Mapping::copy_of(&mut file)?
        {
            if mapping.as_slice().len() as u64 > most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            return Ok(Self {
                home: Home::Mapped(mapping),
                repaired: OnceLock::new(),
                letters: OnceLock::new(),
            });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Self::from(bytes))
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        match &self.home {
            Home::Heap(bytes) => bytes,
            Home::Mapped(mapping) => mapping.as_slice(),
        }
    }

    /// The bytes as text: each that is not UTF-8 becomes U+FFFD, as in k6. Looked at once for all.
    pub fn text(&self) -> &str {
        let repaired = self.repaired.get_or_init(|| {
            let bytes = self.as_slice();
            std::str::from_utf8(bytes).is_err().then(|| crate::string::repaired(bytes).into())
        });
        match repaired {
            Some(text) => text,
            // SAFETY: the bytes never change, and were found to be UTF-8.
            None => unsafe { std::str::from_utf8_unchecked(self.as_slice()) },
        }
    }

    /// Where the letters of the text lie as the engine keeps strings, how many there are, and whether they have two bytes
    /// each. Made once for all; they stay there as long as `self`.
    pub(crate) fn letters(&self) -> (*const c_void, usize, bool) {
        let text = self.text();
        let letters = self.letters.get_or_init(|| {
            if text.is_ascii() {
                return Letters::Same;
            }
            let narrow: Option<Box<[u8]>> =
                text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
            narrow.map_or_else(|| Letters::Utf16(text.encode_utf16().collect()), Letters::Latin1)
        });
        match letters {
            Letters::Same => (text.as_ptr().cast(), text.len(), false),
            Letters::Latin1(letters) => (letters.as_ptr().cast(), letters.len(), false),
            Letters::Utf16(letters) => (letters.as_ptr().cast(), letters.len(), true),
        }
    }

    /// A mapping of these bytes that may be written to without changing them; `None` if they are not mapped or the
    /// system refuses.
    pub(super) fn private_mapping(&self) -> Option<Mapping> {
        match &self.home {
            Home::Heap(_) => None,
            Home::Mapped(mapping) => mapping.private(),
        }
    }
}

impl From<Vec<u8>> for CommonBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { home: Home::Heap(bytes.into()), repaired: OnceLock::new(), letters: OnceLock::new() }
    }
}

impl Deref for CommonBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    fn file_of(bytes: &[u8]) -> File {
        // Tests run side by side.
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("brunt-common-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn a_file_is_as_it_was_read_whatever_becomes_of_it() {
        for size in [0, 1, 70_000, 65_536, 200_000] {
            let content: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let file = file_of(&content);
            let common = CommonBytes::read(&file, 1 << 20).unwrap();
            file.set_len(0).unwrap();
            assert_eq!(common.as_slice(), content);
        }
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        for size in [101, 70_000] {
            let error = CommonBytes::read(&file_of(&vec![7; size]), 100).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
        assert_eq!(CommonBytes::read(&file_of(&[7; 100]), 100).unwrap().len(), 100);
    }

    #[test]
    fn what_is_not_utf8_is_repaired_once() {
        let common = CommonBytes::from(b"a\xff\xfeb".to_vec());
        assert_eq!(common.text(), "a\u{FFFD}\u{FFFD}b");
        assert_eq!(CommonBytes::from("é".as_bytes().to_vec()).text(), "é");
    }
}
