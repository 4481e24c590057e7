//! `importKey` and `exportKey`.

use std::sync::Arc;

use brunt_crypto::{Failure, Name as ErrorName, curve, jwk, rsa};
use brunt_quickjs::{Ctx, Value};

use super::algorithm::{self, Algorithm, buffer};
use super::key::{CryptoKey, Material, not_empty, usages};
use super::work::{Outcome, Trouble};

/// The algorithms that `importKey` reads.
const IMPORTED: &[Algorithm] = &[
    Algorithm::AesCbc,
    Algorithm::AesCtr,
    Algorithm::AesGcm,
    Algorithm::AesKw,
    Algorithm::Hmac,
    Algorithm::Ecdsa,
    Algorithm::Ecdh,
    Algorithm::RsaOaep,
    Algorithm::RsaPss,
    Algorithm::RsaPkcs1,
    Algorithm::Pbkdf2,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Raw,
    Pkcs8,
    Spki,
    Jwk,
}

impl Format {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "raw" => Self::Raw,
            "pkcs8" => Self::Pkcs8,
            "spki" => Self::Spki,
            "jwk" => Self::Jwk,
            _ => return None,
        })
    }
}

fn unsupported(format: &str) -> Failure {
    Failure::new(ErrorName::NotSupported, format!("unsupported key format {format}"))
}

fn data_error(message: impl Into<String>) -> Failure {
    Failure::new(ErrorName::Data, message)
}

/// The source of a key.
enum Source<'a, 'js> {
    Bytes(Format, Vec<u8>),
    Jwk(&'a Value<'js>),
}

/// Reads a key.
pub(super) fn import<'js>(
    ctx: Ctx<'js>,
    format_name: &str,
    data: &Value<'js>,
    given: &Value<'js>,
    extractable: bool,
    wanted: &Value<'js>,
) -> Outcome<'js> {
    let Some(format) = Format::named(format_name) else {
        let message = format!("unsupported format {format_name}");
        return Err(Failure::new(ErrorName::Implementation, message).into());
    };
    let source = if format == Format::Jwk {
        if !data.is_object() {
            return Err(data_error("a JWK is an object").into());
        }
        Source::Jwk(data)
    } else {
        Source::Bytes(format, buffer(data)?)
    };
    let algorithm = Algorithm::read(given, "importKey", IMPORTED)?;
    let usages = usages(algorithm, wanted)?;
    let mut hash = None;
    let material = match algorithm {
        Algorithm::AesCbc | Algorithm::AesCtr | Algorithm::AesGcm | Algorithm::AesKw => {
            let key = symmetric(source, format_name)?;
            if !matches!(key.len(), 16 | 24 | 32) {
                return Err(data_error(format!("invalid key length {} bytes", key.len())).into());
            }
            Material::Secret(key)
        }
        Algorithm::Hmac => {
            hash = Some(algorithm::hash(given, "importKey")?);
            let key = symmetric(source, format_name)?;
            if key.is_empty() {
                return Err(data_error("key length cannot be 0").into());
            }
            let length = algorithm::parameter(given, "length")?;
            let length = length.map(|bits| bits.to_number()).transpose()?;
            let is_other = |bits: f64| (bits - key.len() as f64 * 8.0).abs() > 0.0 || bits.is_nan();
            if length.is_some_and(is_other) {
                let message = "key length cannot be different from the length of the imported data";
                return Err(data_error(message).into());
            }
            Material::Secret(key)
        }
        Algorithm::Pbkdf2 => {
            let Source::Bytes(Format::Raw, key) = source else {
                return Err(unsupported(format_name).into());
            };
            if extractable {
                let message = "invalid value for param extractable";
                return Err(Failure::new(ErrorName::Syntax, message).into());
            }
            Material::Secret(key)
        }
        Algorithm::Ecdsa | Algorithm::Ecdh => of_curve(source, algorithm, given)?,
        Algorithm::RsaOaep | Algorithm::RsaPss | Algorithm::RsaPkcs1 => {
            hash = Some(algorithm::hash(given, "importKey")?);
            of_rsa(source, format_name)?
        }
    };
    if !matches!(material, Material::CurvePublic(_) | Material::RsaPublic(_)) {
        not_empty(&usages)?;
    }
    Ok(CryptoKey { algorithm, hash, material, extractable, usages }.into_object(ctx)?)
}

fn symmetric(source: Source<'_, '_>, format: &str) -> Result<Vec<u8>, Trouble> {
    match source {
        Source::Bytes(Format::Raw, key) => Ok(key),
        Source::Bytes(..) => Err(unsupported(format).into()),
        Source::Jwk(object) => Ok(jwk::symmetric(&|name| member(object, name))?),
    }
}

/// As in k6, a key that says its curve is of that one, whichever was asked for; only bare points need `namedCurve`.
fn of_curve(
    source: Source<'_, '_>,
    algorithm: Algorithm,
    given: &Value<'_>,
) -> Result<Material, Trouble> {
    algorithm::needs_curve(given)?;
    Ok(match source {
        Source::Bytes(Format::Pkcs8, der) => {
            Material::CurvePrivate(of_any(|curve| curve::PrivateKey::from_pkcs8(curve, &der))?)
        }
        Source::Bytes(Format::Spki, der) => {
            Material::CurvePublic(of_any(|curve| curve::PublicKey::from_spki(curve, &der))?)
        }
        Source::Bytes(_, point) => {
            let key = curve::PublicKey::from_raw(algorithm::curve(given)?, &point);
            Material::CurvePublic(key.map_err(|_| {
                data_error(match algorithm {
                    Algorithm::Ecdh => {
                        "unable to import ECDH public key data: crypto/ecdh: invalid public key"
                    }
                    _ => "unable to import ECDSA public key data",
                })
            })?)
        }
        Source::Jwk(object) => {
            let find = |name: &str| member(object, name);
            let name = find("crv").unwrap_or_default();
            let curve = curve::Curve::named(&name).ok_or_else(|| {
                data_error(format!("invalid EC JWK key: its curve \"{name}\" is not supported"))
            })?;
            if find("d").is_some() {
                Material::CurvePrivate(curve::PrivateKey::from_jwk(curve, &find)?)
            } else {
                Material::CurvePublic(curve::PublicKey::from_jwk(curve, &find)?)
            }
        }
    })
}

/// A key of the first curve that it can be read as; the error is that of the first.
fn of_any<T>(read: impl Fn(curve::Curve) -> Result<T, Failure>) -> Result<T, Failure> {
    let first = read(curve::Curve::P256);
    if first.is_ok() {
        return first;
    }
    let others = [curve::Curve::P384, curve::Curve::P521];
    others.into_iter().find_map(|curve| read(curve).ok()).map_or(first, Ok)
}

fn of_rsa(source: Source<'_, '_>, format: &str) -> Result<Material, Trouble> {
    Ok(match source {
        Source::Bytes(Format::Pkcs8, der) => {
            Material::RsaPrivate(Arc::new(rsa::PrivateKey::from_pkcs8(&der)?))
        }
        Source::Bytes(Format::Spki, der) => Material::RsaPublic(rsa::PublicKey::from_spki(&der)?),
        Source::Bytes(..) => return Err(unsupported(format).into()),
        Source::Jwk(object) => {
            let find = |name: &str| member(object, name);
            if find("d").is_some() {
                Material::RsaPrivate(Arc::new(rsa::PrivateKey::from_jwk(&find)?))
            } else {
                Material::RsaPublic(rsa::PublicKey::from_jwk(&find)?)
            }
        }
    })
}

/// A member of a JSON Web Key, if it is a string.
fn member(object: &Value<'_>, name: &str) -> Option<String> {
    match object.get(name) {
        Ok(value) if value.is_string() => value.to_string_lossy().ok(),
        Ok(_) => None,
        // A getter threw: the member is not there.
        Err(_) => {
            drop(object.ctx().take_exception());
            None
        }
    }
}

/// Writes a key.
pub(super) fn export<'js>(ctx: Ctx<'js>, format_name: &str, key: &Value<'js>) -> Outcome<'js> {
    let key = CryptoKey::of(key, "")?;
    let refused = |message: &str| Err(Failure::new(ErrorName::InvalidAccess, message).into());
    if !key.extractable {
        return refused("the key is not extractable");
    }
    let Some(format) = Format::named(format_name) else {
        return Err(unsupported(format_name).into());
    };
    let bytes = match (&key.material, format) {
        (Material::Secret(bytes), Format::Raw) => bytes.clone(),
        (Material::Secret(bytes), Format::Jwk) => return symmetric_jwk(ctx, key, bytes),
        (Material::CurvePrivate(key), Format::Pkcs8) => key.to_pkcs8()?,
        (Material::CurvePublic(key), Format::Spki) => key.to_spki()?,
        (Material::CurvePublic(key), Format::Raw) => key.to_raw(),
        (Material::CurvePrivate(key), Format::Jwk) => return members(ctx, key.to_jwk()),
        (Material::CurvePublic(key), Format::Jwk) => return members(ctx, key.to_jwk()),
        (Material::RsaPrivate(key), Format::Pkcs8) => key.to_pkcs8()?,
        (Material::RsaPublic(key), Format::Spki) => key.to_spki()?,
        (Material::RsaPrivate(key), Format::Jwk) => return members(ctx, key.to_jwk()?),
        (Material::RsaPublic(key), Format::Jwk) => return members(ctx, key.to_jwk()),
        (Material::CurvePrivate(_), Format::Raw | Format::Spki) => {
            return refused("key is not a valid elliptic curve public key");
        }
        (Material::CurvePublic(_), Format::Pkcs8) => {
            return refused("key is not a valid elliptic curve private key");
        }
        (Material::RsaPrivate(_), Format::Spki) => {
            return refused("given CryptoKey is not a public RSA key");
        }
        (Material::RsaPublic(_), Format::Pkcs8) => {
            return refused("given CryptoKey is not a private RSA key");
        }
        _ => return Err(unsupported(format_name).into()),
    };
    Ok(ctx.array_buffer(bytes)?)
}

fn members<'js>(ctx: Ctx<'js>, members: jwk::Exported) -> Outcome<'js> {
    let object = ctx.object()?;
    for (name, text) in members {
        object.define(name, ctx.string(&text)?)?;
    }
    Ok(object)
}

fn symmetric_jwk<'js>(ctx: Ctx<'js>, key: &CryptoKey, bytes: &[u8]) -> Outcome<'js> {
    let bits = bytes.len() * 8;
    let name = match key.algorithm {
        Algorithm::AesCbc => format!("A{bits}CBC"),
        Algorithm::AesCtr => format!("A{bits}CTR"),
        Algorithm::AesGcm => format!("A{bits}GCM"),
        Algorithm::AesKw => format!("A{bits}KW"),
        _ => format!("HS{}", key.hash()?.name().trim_start_matches("SHA-")),
    };
    let usages: Result<Vec<_>, _> = key.usages.iter().map(|name| ctx.string(name)).collect();
    let object = members(ctx, vec![("kty", "oct".to_owned()), ("k", jwk::encode(bytes))])?;
    object.define("alg", ctx.string(&name)?)?;
    object.define("ext", ctx.bool(true))?;
    object.define("key_ops", ctx.array_from(usages?)?)?;
    Ok(object)
}
