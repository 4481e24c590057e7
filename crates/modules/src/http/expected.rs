//! Which statuses are expected: `http.expectedStatuses`, response callbacks.

use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, JsResult, Members, Name, Value};

use crate::boxed::unbox;
use crate::go_error::go_type;
use crate::throwing::{throw, throw_type};

static MIN: Name = Name::new("min");
static MAX: Name = Name::new("max");

/// The callback that decides `expected_response` and `http_req_failed`.
#[derive(Debug, Clone, Default)]
pub(crate) enum Callback {
    /// 200 to 399.
    #[default]
    Default,
    /// These, both ends included.
    Statuses(Rc<[(i64, i64)]>),
    /// Nothing: neither tag nor metric.
    None,
}

impl Callback {
    /// Whether a status (0 for no response) is expected; `None` without a callback.
    pub(crate) fn expects(&self, status: u16) -> Option<bool> {
        let status = i64::from(status);
        match self {
            Self::Default => Some((200..400).contains(&status)),
            Self::Statuses(ranges) => {
                Some(ranges.iter().any(|(min, max)| (*min..=*max).contains(&status)))
            }
            Self::None => None,
        }
    }

    /// Reads what a script gives as a callback. `None` for what is none.
    pub(crate) fn read(value: &Value<'_>) -> Option<Self> {
        if value.is_nullish() {
            return Some(Self::None);
        }
        value
            .instance::<ExpectedStatuses>()
            .map(|expected| Self::Statuses(Rc::clone(&expected.ranges)))
    }
}

/// The object that `http.expectedStatuses()` returns.
struct ExpectedStatuses {
    ranges: Rc<[(i64, i64)]>,
}

impl Class for ExpectedStatuses {
    const NAME: &'static std::ffi::CStr = c"ExpectedStatuses";

    fn members() -> &'static Members {
        static NONE: LazyLock<Members> = LazyLock::new(Members::new);
        &NONE
    }
}

pub(super) fn expected_statuses(call: Call<'_>) -> JsResult<'_> {
    let ctx = call.ctx();
    if call.is_empty() {
        return Err(throw(ctx, "no arguments"));
    }
    let mut ranges = Vec::with_capacity(call.len());
    for index in 0..call.len() {
        let argument = call.argument(index);
        let range = if let Some(status) = integer(&argument) {
            (status, status)
        } else if go_type(&argument) == "map[string]interface {}" && unbox(&argument).is_none() {
            if !argument.has(&MIN)? || !argument.has(&MAX)? {
                return Err(wrong(ctx, index));
            }
            let ends = (integer(&argument.get(&MIN)?), integer(&argument.get(&MAX)?));
            let (Some(min), Some(max)) = ends else {
                let text = format!(
                    "both min and max need to be integers for argument number {}",
                    index + 1
                );
                return Err(throw(ctx, &text));
            };
            (min, max)
        } else if argument.is_nullish() {
            return Err(throw_type(ctx, "Cannot convert undefined or null to object"));
        } else {
            return Err(wrong(ctx, index));
        };
        ranges.push(range);
    }
    ctx.instance(ExpectedStatuses { ranges: ranges.into() })
}

fn wrong(ctx: brunt_quickjs::Ctx<'_>, index: usize) -> brunt_quickjs::Thrown {
    throw(
        ctx,
        &format!(
            "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
            index + 1
        ),
    )
}

fn integer(value: &Value<'_>) -> Option<i64> {
    value.as_number().filter(|number| number.fract() == 0.0).map(|number| number as i64)
}
