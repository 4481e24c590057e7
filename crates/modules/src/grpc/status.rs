//! Statuses as scripts see them: numbers that show their names, as k6's are Go's.
//!
//! `${status}` is `NotFound`, `status + 0` is 5, `JSON.stringify(status)` is `5`, `typeof` is `object`. There is one
//! object for each code in a context, so `response.status === grpc.StatusNotFound`.

use brunt_quickjs::{Ctx, JsResult, Name, Value};

use super::client::Client;

/// Where the prototype of clients keeps what makes statuses.
static CODES: Name = Name::new("\u{0}codes");
static HEALTH: Name = Name::new("\u{0}health");

/// Gives a function from a code to its object. Objects of codes without a name are not kept.
const MAKER: &str = r"((names, other, members) => {
  const string = { value() { return names[+this] ?? other(+this); } };
  const prototype = Object.create(Number.prototype, { toString: string });
  const functions = { string: string.value, number() { return +this; } };
  const shown = {};
  for (const name of members) {
    shown[name] = { value: functions[name] ?? (() => undefined), enumerable: true };
  }
  const make = (code) => {
    const boxed = Object.setPrototypeOf(new Number(code), prototype);
    return Object.freeze(Object.defineProperties(boxed, shown));
  };
  const known = names.map((_, code) => make(code));
  return (code) => known[code] ?? make(code);
})";

const CODE_NAMES: &str = r#"["OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
  "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal",
  "Unavailable", "DataLoss", "Unauthenticated"], (code) => `Code(${code})`, ["string", "unmarshalJSON"]"#;

const HEALTH_NAMES: &str = r#"["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"], (code) => `${code}`,
  ["descriptor", "enum", "enumDescriptor", "number", "string", "type"]"#;

/// Makes what this context's statuses come from.
pub(super) fn prepare(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let prototype = ctx.class_prototype::<Client>()?;
    for (name, names) in [(&CODES, CODE_NAMES), (&HEALTH, HEALTH_NAMES)] {
        prototype.define_hidden(name, ctx.eval("k6/net/grpc", &format!("{MAKER}({names})"))?)?;
    }
    Ok(())
}

/// The status of a call.
pub(super) fn code(ctx: Ctx<'_>, code: u32) -> JsResult<'_> {
    of(ctx, &CODES, ctx.number(f64::from(code)))
}

/// The state of a service.
pub(super) fn health(ctx: Ctx<'_>, state: i32) -> JsResult<'_> {
    of(ctx, &HEALTH, ctx.int(state))
}

fn of<'js>(ctx: Ctx<'js>, name: &'static Name, number: Value<'js>) -> JsResult<'js> {
    let make = ctx.class_prototype::<Client>()?.get(name)?;
    make.call(&ctx.undefined(), &[number])
}
