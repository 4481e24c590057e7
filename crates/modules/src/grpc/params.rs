//! Params of calls: metadata, tags, time limits.

use std::time::Duration;

use brunt_fiber::clock;
use brunt_grpc::Metadata;
use brunt_js::Host;
use brunt_quickjs::{Ctx, Value};

use crate::go_error::go_type;
use crate::reading::{keys_of, read_tags, tag_text, timeout_of};

/// A call may take so long, unless the script says otherwise.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The parameters of one call.
pub(super) struct Params {
    pub(super) metadata: Option<Metadata>,
    pub(super) tags: Vec<(String, String)>,
    /// `None`: as long as it takes.
    pub(super) timeout: Option<Duration>,
    pub(super) discards: bool,
}

/// Why parameters are refused: a sentence, or what a getter threw.
pub(super) enum Refusal {
    Told(String),
    Thrown(brunt_quickjs::Thrown),
}

impl From<brunt_quickjs::Thrown> for Refusal {
    fn from(thrown: brunt_quickjs::Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

impl From<String> for Refusal {
    fn from(told: String) -> Self {
        Self::Told(told)
    }
}

impl Params {
    /// The params of `invoke`.
    pub(super) fn of_call(given: &Value<'_>) -> Result<Self, Refusal> {
        Self::read(given, Some(TIMEOUT))
    }

    /// The params of a stream, which may take as long as it wants.
    pub(super) fn of_stream(given: &Value<'_>) -> Result<Self, Refusal> {
        Self::read(given, None)
    }

    fn read(given: &Value<'_>, timeout: Option<Duration>) -> Result<Self, Refusal> {
        let mut params = Self { metadata: None, tags: Vec::new(), timeout, discards: false };
        // A text is an array of letters, and those are no parameters.
        if given.as_str().is_some_and(|text| !text.as_str().is_empty()) {
            return Err(Refusal::Told("unknown param: \"0\"".to_owned()));
        }
        if !given.is_object() {
            return Ok(params);
        }
        for key in keys_of(given)? {
            let value = given.get(&key)?;
            match key.text().unwrap_or_default().as_str() {
                "metadata" => params.metadata = metadata(&value, "metadata")?,
                "tags" => params.tags = tags(&value)?,
                "timeout" => {
                    let read = timeout_of(&value);
                    let read = read.map_err(|told| format!("invalid timeout value: {told}"))?;
                    // 0 says nothing, unlike what is less.
                    if !(read.is_zero() && is_nothing(&value)) {
                        params.timeout = Some(read);
                    }
                }
                "discardResponseMessage" => params.discards = value.truthy(),
                other => return Err(Refusal::Told(format!("unknown param: {other:?}"))),
            }
        }
        Ok(params)
    }
}

/// The rest of the iteration's time: until the hard stop of its scenario, or of `setup()` and `teardown()`. `None`:
/// it has no end. Servers are told so, as k6 does.
pub(super) fn time_left(ctx: Ctx<'_>) -> Option<Duration> {
    let deadline = Host::of(ctx).stop_handle().deadline();
    let left = || Duration::from_nanos(deadline.saturating_sub(clock::now_ns()));
    (deadline != u64::MAX).then(left)
}

/// A limit, and no more than what is left of the iteration's time.
pub(super) fn capped(ctx: Ctx<'_>, limit: Option<Duration>) -> Option<Duration> {
    limit.into_iter().chain(time_left(ctx)).min()
}

fn tags(value: &Value<'_>) -> Result<Vec<(String, String)>, Refusal> {
    if !value.is_object() {
        return Ok(Vec::new());
    }
    for key in keys_of(value)? {
        if tag_text(&value.get(&key)?).is_none() {
            return Err(Refusal::Told(format!(
                "metric tags: invalid value for metric tag '{}': only String, Boolean and Number types are accepted as a \
                 metric tag values",
                key.text().unwrap_or_default()
            )));
        }
    }
    Ok(read_tags(value.ctx(), value, String::new)?)
}

/// Reads metadata; `what` is the parameter's name.
pub(super) fn metadata(value: &Value<'_>, what: &str) -> Result<Option<Metadata>, Refusal> {
    if value.is_nullish() {
        return Ok(None);
    }
    if go_type(value) != "map[string]interface {}" {
        return Err(Refusal::Told(format!(
            "invalid {what} param: must be an object with key-value pairs"
        )));
    }
    let mut metadata = Metadata::new();
    for key in keys_of(value)? {
        let (name, value) = (key.text().unwrap_or_default(), value.get(&key)?);
        if name.to_ascii_lowercase().ends_with("-bin") {
            let bytes = value.bytes().filter(|_| value.typed_array_name() == Some("Uint8Array"));
            let Some(bytes) = bytes else {
                let told = format!("invalid {what} param: {name:?} value must be binary");
                return Err(Refusal::Told(told));
            };
            metadata.binary(&name, bytes.as_slice());
        } else {
            let Some(text) = value.as_str() else {
                let told = format!("invalid {what} param: {name:?} value must be a string");
                return Err(Refusal::Told(told));
            };
            metadata.text(&name, text.as_str());
        }
    }
    Ok(Some(metadata))
}

/// A limit of exactly 0.
fn is_nothing(timeout: &Value<'_>) -> bool {
    match timeout.as_str() {
        Some(text) => brunt_duration::parse_millis(text.as_str()) == Ok(0),
        None => timeout.as_number() == Some(0.0),
    }
}
