//! Algorithms as scripts give them: a name, or an object with a name and parameters.

use brunt_crypto::curve::Curve;
use brunt_crypto::{Failure, Hash, Name as ErrorName};
use brunt_quickjs::{JsResult, Value};

use super::work::Trouble;

/// The algorithms, by the one spelling of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    AesCbc,
    AesCtr,
    AesGcm,
    /// Its keys can be made, read and written; they cannot wrap other keys, as in k6.
    AesKw,
    Hmac,
    Ecdsa,
    Ecdh,
    RsaOaep,
    RsaPss,
    RsaPkcs1,
    Pbkdf2,
}

impl Algorithm {
    const ALL: [Self; 11] = [
        Self::AesCbc,
        Self::AesCtr,
        Self::AesGcm,
        Self::AesKw,
        Self::Hmac,
        Self::Ecdsa,
        Self::Ecdh,
        Self::RsaOaep,
        Self::RsaPss,
        Self::RsaPkcs1,
        Self::Pbkdf2,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AesCbc => "AES-CBC",
            Self::AesCtr => "AES-CTR",
            Self::AesGcm => "AES-GCM",
            Self::AesKw => "AES-KW",
            Self::Hmac => "HMAC",
            Self::Ecdsa => "ECDSA",
            Self::Ecdh => "ECDH",
            Self::RsaOaep => "RSA-OAEP",
            Self::RsaPss => "RSA-PSS",
            Self::RsaPkcs1 => "RSASSA-PKCS1-v1_5",
            Self::Pbkdf2 => "PBKDF2",
        }
    }

    /// The possible usages of its keys.
    pub(super) fn usages(self) -> &'static [&'static str] {
        match self {
            Self::AesCbc | Self::AesCtr | Self::AesGcm | Self::AesKw | Self::RsaOaep => {
                &["encrypt", "decrypt", "wrapKey", "unwrapKey"]
            }
            Self::Hmac | Self::Ecdsa | Self::RsaPss | Self::RsaPkcs1 => &["sign", "verify"],
            Self::Ecdh | Self::Pbkdf2 => &["deriveKey", "deriveBits"],
        }
    }

    pub(super) fn is_aes(self) -> bool {
        matches!(self, Self::AesCbc | Self::AesCtr | Self::AesGcm | Self::AesKw)
    }

    /// The algorithm that a script names, if it is one of `allowed`.
    pub(super) fn read(
        given: &Value<'_>,
        operation: &str,
        allowed: &[Self],
    ) -> Result<Self, Trouble> {
        let name = name(given)?;
        let known = Self::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(&name));
        known
            .filter(|known| allowed.contains(known))
            .ok_or_else(|| unsupported(&name, operation).into())
    }
}

/// The name in an algorithm.
pub(super) fn name(given: &Value<'_>) -> Result<String, Trouble> {
    if given.is_string() {
        return Ok(given.to_string_lossy()?);
    }
    if !given.is_object() {
        let message = "algorithm cannot be interpreted as a string or an object";
        return Err(Failure::new(ErrorName::Syntax, message).into());
    }
    // An algorithm without a name is an unknown one.
    let name = given.get("name")?;
    if name.is_nullish() { Ok(String::new()) } else { Ok(name.to_string_lossy()?) }
}

/// There is no such algorithm, or it cannot do this.
pub(super) fn unsupported(name: &str, operation: &str) -> Failure {
    let name = name.to_uppercase();
    if name == Algorithm::AesKw.name() {
        return Failure::new(ErrorName::NotSupported, format!("unsupported algorithm {name}"));
    }
    let message = format!(
        "algorithm \"{name}\" doesn't support (in implementation) operation \"{operation}\""
    );
    Failure::new(ErrorName::NotSupported, message)
}

pub(super) fn missing(what: &str) -> Failure {
    Failure::new(ErrorName::Syntax, format!("could not get {what} from algorithm parameter"))
}

/// A parameter; `None` if it is missing.
pub(super) fn parameter<'js>(given: &Value<'js>, name: &str) -> JsResult<'js, Option<Value<'js>>> {
    if !given.is_object() {
        return Ok(None);
    }
    let value = given.get(name)?;
    Ok((!value.is_nullish()).then_some(value))
}

/// The parameter `hash`.
pub(super) fn hash(given: &Value<'_>, operation: &str) -> Result<Hash, Trouble> {
    let hash = parameter(given, "hash")?.ok_or_else(|| missing("hash"))?;
    let name = name(&hash)?;
    Hash::named(&name).ok_or_else(|| unsupported(&name, operation).into())
}

/// Refuses parameters without `namedCurve`.
pub(super) fn needs_curve(given: &Value<'_>) -> Result<(), Trouble> {
    parameter(given, "namedCurve")?.map(drop).ok_or_else(|| missing("namedCurve").into())
}

/// The parameter `namedCurve`.
pub(super) fn curve(given: &Value<'_>) -> Result<Curve, Trouble> {
    let curve = parameter(given, "namedCurve")?.ok_or_else(|| missing("namedCurve"))?;
    let name = curve.to_string_lossy()?;
    Curve::named(&name).ok_or_else(|| {
        let message = format!("elliptic curve {name} is not supported");
        Failure::new(ErrorName::NotSupported, message).into()
    })
}

/// A parameter that is a number of things, and must be there.
pub(super) fn count(given: &Value<'_>, name: &'static str) -> Result<usize, Trouble> {
    let value = parameter(given, name)?.ok_or_else(|| missing(name))?;
    Ok(value.to_number()?.clamp(0.0, f64::from(u32::MAX)) as usize)
}

/// A parameter that is bytes and must be there.
pub(super) fn bytes(given: &Value<'_>, name: &'static str) -> Result<Vec<u8>, Trouble> {
    let value = parameter(given, name)?.ok_or_else(|| missing(name))?;
    octets(&value)
}

/// A parameter that is bytes; empty if it is missing.
pub(super) fn bytes_or_none(given: &Value<'_>, name: &str) -> Result<Vec<u8>, Trouble> {
    parameter(given, name)?.map_or_else(|| Ok(Vec::new()), |value| octets(&value))
}

/// The bytes of a parameter: those of a text, too, as in k6.
pub(super) fn octets(value: &Value<'_>) -> Result<Vec<u8>, Trouble> {
    if value.is_string() { Ok(value.to_string_lossy()?.into_bytes()) } else { buffer(value) }
}

/// The bytes of a buffer or of a view of one.
pub(super) fn buffer(value: &Value<'_>) -> Result<Vec<u8>, Trouble> {
    if value.is_nullish() {
        return Err(Failure::new(ErrorName::Type, "data is null or undefined").into());
    }
    value.with_bytes(<[u8]>::to_vec).ok_or_else(|| {
        let message = "data is neither an ArrayBuffer, nor a TypedArray nor DataView";
        Failure::new(ErrorName::Operation, message).into()
    })
}
