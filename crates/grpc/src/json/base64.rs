//! `bytes` in JSON.

use ::base64::Engine as _;
use ::base64::alphabet::{STANDARD, URL_SAFE};
use ::base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use ::base64::engine::{DecodePaddingMode, general_purpose};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// The text of bytes.
pub(super) fn write(bytes: &[u8], out: &mut String) {
    general_purpose::STANDARD.encode_string(bytes, out);
}

/// The bytes of a text, in either alphabet, padded or not.
pub(super) fn read(text: &str) -> Option<Vec<u8>> {
    let is_url = text.contains(['-', '_']);
    if is_url { URL.decode(text).ok() } else { PLAIN.decode(text).ok() }
}
