//! `k6/crypto/x509`: the fields of a certificate.

use brunt_quickjs::{Call, Ctx, JsResult, Name, Value};
use sha1::{Digest as _, Sha1};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry as oid;
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey;
use x509_parser::time::ASN1Time;
use x509_parser::x509::X509Name;

use crate::encoding::with_input;
use crate::go_error::throw_go;
use crate::module::Module;

static TYPE: Name = Name::new("type");
static VALUE: Name = Name::new("value");

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/crypto/x509"
    }

    fn names(&self) -> Vec<String> {
        ["parse", "getAltNames", "getIssuer", "getSubject"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("parse", ctx.function(c"parse", 1, |call| read(&call, parse))?)?;
        exports.define(
            "getAltNames",
            ctx.function(c"getAltNames", 1, |call| read(&call, alt_names))?,
        )?;
        exports.define("getIssuer", ctx.function(c"getIssuer", 1, |call| read(&call, issuer))?)?;
        exports.define("getSubject", ctx.function(c"getSubject", 1, |call| read(&call, subject))?)
    }
}

/// The value made of a certificate and its DER.
type Make = for<'js> fn(Ctx<'js>, &X509Certificate<'_>, &[u8]) -> JsResult<'js>;

/// Reads the first block of a PEM text.
fn read<'js>(call: &Call<'js>, make: Make) -> JsResult<'js> {
    let (ctx, given) = (call.ctx(), call.argument(0));
    let text = if given.is_undefined() {
        Vec::new()
    } else if given.is_number() || given.is_bool() {
        let shown = given.to_string_lossy()?;
        let message = format!(
            "could not convert function call parameter 0: could not convert {shown} to []uint8"
        );
        return Err(ctx.throw_type(&message));
    } else {
        with_input(&given, <[u8]>::to_vec)?
    };
    let Ok((_, pem)) = x509_parser::pem::parse_x509_pem(&text) else {
        return Err(throw_go(ctx, "failed to decode certificate PEM file"));
    };
    match X509Certificate::from_der(&pem.contents) {
        Ok((_, certificate)) => make(ctx, &certificate, &pem.contents),
        Err(_) => Err(throw_go(ctx, "failed to parse certificate: x509: malformed certificate")),
    }
}

fn parse<'js>(ctx: Ctx<'js>, certificate: &X509Certificate<'_>, der: &[u8]) -> JsResult<'js> {
    let object = ctx.object()?;
    object.define("subject", subject(ctx, certificate, der)?)?;
    object.define("issuer", issuer(ctx, certificate, der)?)?;
    let validity = certificate.validity();
    object.define("notBefore", ctx.string(&rfc3339(validity.not_before))?)?;
    object.define("notAfter", ctx.string(&rfc3339(validity.not_after))?)?;
    object.define("altNames", alt_names(ctx, certificate, der)?)?;
    object.define("signatureAlgorithm", ctx.string(signature_algorithm(certificate))?)?;
    let finger_print = Sha1::digest(der);
    let bytes = finger_print.iter().map(|byte| ctx.int(i32::from(*byte)));
    object.define("fingerPrint", ctx.array_from(bytes)?)?;
    object.define("publicKey", public_key(ctx, certificate)?)?;
    Ok(object)
}

/// The first value of an attribute; empty if there is none.
fn first<'a>(name: &'a X509Name<'_>, kind: &oid::Oid<'_>) -> &'a str {
    let mut found = name.iter_attributes().filter(|attribute| attribute.attr_type() == kind);
    found.next().and_then(|attribute| attribute.as_str().ok()).unwrap_or_default()
}

fn subject<'js>(ctx: Ctx<'js>, certificate: &X509Certificate<'_>, _: &[u8]) -> JsResult<'js> {
    let name = certificate.subject();
    let object = ctx.object()?;
    for (member, kind) in [
        ("commonName", oid::OID_X509_COMMON_NAME),
        ("country", oid::OID_X509_COUNTRY_NAME),
        ("postalCode", oid::OID_X509_POSTAL_CODE),
        ("stateOrProvinceName", oid::OID_X509_STATE_OR_PROVINCE_NAME),
        ("localityName", oid::OID_X509_LOCALITY_NAME),
        ("streetAddress", oid::OID_X509_STREET_ADDRESS),
        ("organizationName", oid::OID_X509_ORGANIZATION_NAME),
    ] {
        object.define(member, ctx.string(first(name, &kind))?)?;
    }
    let units: Result<Vec<_>, _> = name
        .iter_organizational_unit()
        .map(|unit| ctx.string(unit.as_str().unwrap_or_default()))
        .collect();
    object.define("organizationalUnitName", ctx.array_from(units?)?)?;
    object.define("names", names_of(ctx, name)?)?;
    Ok(object)
}

fn issuer<'js>(ctx: Ctx<'js>, certificate: &X509Certificate<'_>, _: &[u8]) -> JsResult<'js> {
    let name = certificate.issuer();
    let object = ctx.object()?;
    for (member, kind) in [
        ("commonName", oid::OID_X509_COMMON_NAME),
        ("country", oid::OID_X509_COUNTRY_NAME),
        ("stateOrProvinceName", oid::OID_X509_STATE_OR_PROVINCE_NAME),
        ("localityName", oid::OID_X509_LOCALITY_NAME),
        ("organizationName", oid::OID_X509_ORGANIZATION_NAME),
    ] {
        object.define(member, ctx.string(first(name, &kind))?)?;
    }
    object.define("names", names_of(ctx, name)?)?;
    Ok(object)
}

/// All attributes in their order, by their numbers.
fn names_of<'js>(ctx: Ctx<'js>, name: &X509Name<'_>) -> JsResult<'js> {
    let mut all = Vec::new();
    for attribute in name.iter_attributes() {
        let kind = ctx.string(&attribute.attr_type().to_id_string())?;
        let value = ctx.string(attribute.as_str().unwrap_or_default())?;
        all.push(ctx.object_from([(&TYPE, kind), (&VALUE, value)])?);
    }
    ctx.array_from(all)
}

/// DNS names first, then mail addresses, IP addresses and URIs.
fn alt_names<'js>(ctx: Ctx<'js>, certificate: &X509Certificate<'_>, _: &[u8]) -> JsResult<'js> {
    let mut kinds: [Vec<String>; 4] = Default::default();
    if let Ok(Some(extension)) = certificate.subject_alternative_name() {
        for name in &extension.value.general_names {
            match name {
                GeneralName::DNSName(text) => kinds[0].push((*text).to_owned()),
                GeneralName::RFC822Name(text) => kinds[1].push((*text).to_owned()),
                GeneralName::IPAddress(bytes) => {
                    if let Ok(four) = <[u8; 4]>::try_from(*bytes) {
                        kinds[2].push(std::net::Ipv4Addr::from(four).to_string());
                    } else if let Ok(sixteen) = <[u8; 16]>::try_from(*bytes) {
                        kinds[2].push(std::net::Ipv6Addr::from(sixteen).to_string());
                    }
                }
                GeneralName::URI(text) => kinds[3].push((*text).to_owned()),
                _ => {}
            }
        }
    }
    let names: Result<Vec<_>, _> = kinds.iter().flatten().map(|name| ctx.string(name)).collect();
    ctx.array_from(names?)
}

/// As Go prints a time in UTC.
fn rfc3339(time: ASN1Time) -> String {
    brunt_moment::utc(time.timestamp())
}

/// As Go calls it.
fn signature_algorithm(certificate: &X509Certificate<'_>) -> &'static str {
    let number = certificate.signature_algorithm.algorithm.to_id_string();
    match number.as_str() {
        "1.2.840.113549.1.1.4" => "MD5-RSA",
        "1.2.840.113549.1.1.5" | "1.3.14.3.2.29" => "SHA1-RSA",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.113549.1.1.10" => "SHA256-RSAPSS",
        "1.2.840.10040.4.3" => "DSA-SHA1",
        "2.16.840.1.101.3.4.3.2" => "DSA-SHA256",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        "1.3.101.112" => "Ed25519",
        _ => "0",
    }
}

fn public_key<'js>(ctx: Ctx<'js>, certificate: &X509Certificate<'_>) -> JsResult<'js> {
    let info = certificate.public_key();
    let unsupported = || Err(throw_go(ctx, "unsupported public key algorithm"));
    if info.algorithm.algorithm == oid::OID_PKCS1_RSASSAPSS {
        return unsupported();
    }
    let key = ctx.object()?;
    let name = match info.parsed() {
        Ok(PublicKey::RSA(rsa)) => {
            key.define("n", big_int(ctx, rsa.modulus)?)?;
            let exponent = rsa.try_exponent().unwrap_or_default();
            key.define("e", ctx.number(exponent as f64))?;
            "RSA"
        }
        Ok(PublicKey::EC(point)) => {
            let bytes = point.data();
            // An uncompressed point: 4, then two numbers of the same length.
            let Some((4, numbers)) = bytes.split_first().map(|(first, rest)| (*first, rest)) else {
                return unsupported();
            };
            let (x, y) = numbers.split_at(numbers.len() / 2);
            key.define("curve", ctx.object()?)?;
            key.define("x", big_int(ctx, x)?)?;
            key.define("y", big_int(ctx, y)?)?;
            "ECDSA"
        }
        Ok(PublicKey::DSA(number)) => {
            key.define("y", big_int(ctx, number)?)?;
            "DSA"
        }
        _ => return unsupported(),
    };
    let object = ctx.object()?;
    object.define("algorithm", ctx.string(name)?)?;
    object.define("key", key)?;
    Ok(object)
}

/// A number of any size.
fn big_int<'js>(ctx: Ctx<'js>, bytes: &[u8]) -> JsResult<'js> {
    let text = ctx.string(&format!("0x{}", super::hex(bytes)))?;
    ctx.global().get("BigInt")?.call(&ctx.undefined(), &[text])
}
