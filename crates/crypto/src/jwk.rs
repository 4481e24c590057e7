//! JSON Web Keys (RFC 7517): numbers as base64url without padding.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet::URL_SAFE, engine::DecodePaddingMode};

use crate::Failure;

/// The members of a key by name; `None` for a member that is missing or no string.
pub type Members<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The members of a key that is exported, in their order.
pub type Exported = Vec<(&'static str, String)>;

/// Like Go, it minds no padding and no bits that the last letter has too many.
static URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Bytes as a key shows them.
pub fn encode(bytes: &[u8]) -> String {
    URL.encode(bytes)
}

/// The bytes of a member.
///
/// # Errors
/// [`Name::Data`](crate::Name::Data) if it is missing or no base64url.
pub fn decode(members: Members<'_>, name: &str) -> Result<Vec<u8>, Failure> {
    let text = members(name)
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Failure::data(format!("invalid JWK: {name} is required")))?;
    URL.decode(text).map_err(|error| Failure::data(format!("invalid JWK: {name}: {error}")))
}

/// The bytes of an `oct` key.
///
/// # Errors
/// [`Name::Data`](crate::Name::Data) if they are no such key.
pub fn symmetric(members: Members<'_>) -> Result<Vec<u8>, Failure> {
    let refused = |why: String| Failure::data(format!("invalid symmetric JWK: {why}"));
    let kind = members("kty").unwrap_or_default();
    if kind != "oct" {
        return Err(refused(format!("invalid key type: {kind}")));
    }
    let Some(key) = members("k").filter(|key| !key.is_empty()) else {
        return Err(refused("key (k) is required".to_owned()));
    };
    URL.decode(key).map_err(|error| refused(error.to_string()))
}
