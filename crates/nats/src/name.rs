//! Names that become tokens of subjects and keys.

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// Why a name can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name {0:?} can't be used: take 1 to {LONGEST} letters, digits, - and _")]
pub struct NameError(pub String);

/// Whether `name` may be the id of a run or the name of a pool: 1 to 64 letters, digits, `-`, `_`. A dot or a star would reach the
/// keys of others.
///
/// # Errors
/// [`NameError`] otherwise.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_sound) {
        return Ok(());
    }
    Err(NameError(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_token() {
        for good in ["a", "run-1_B", &"x".repeat(64)] {
            assert_eq!(check_name(good), Ok(()));
        }
        for bad in ["", "a.b", "*", ">", "a b", "ä", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
