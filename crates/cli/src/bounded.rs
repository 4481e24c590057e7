//! Files that the user names, read up to a bound: a device may have no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The maximum size of a configuration file, of keys and certificates, in bytes.
pub(crate) const SETTINGS_MAX: u64 = 64 << 20;

/// The maximum size of a request body, in bytes.
pub(crate) const BODY_MAX: u64 = 1 << 30;

/// The whole file.
///
/// # Errors
/// It can't be read, or is longer than `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, most)
}

/// The same, as text.
///
/// # Errors
/// Also if it is not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read(path, most)?).map_err(|_| wrong())
}

/// All that `source` has.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_all(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let error = read(Path::new("/dev/zero"), 1000).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 1000 bytes");
        assert!(read_all(io::repeat(b'a').take(1000), 1000).unwrap().len() == 1000);
        assert!(read_text(Path::new("/dev/urandom"), 1000).is_err());
    }
}
