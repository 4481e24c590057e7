//! The data of `setup()`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::seat::Fault;

/// Data of up to this many bytes stand in the key; larger ones in the object store.
pub(crate) const INLINE_MAX: usize = 256 * 1024;

/// The outcome of `setup()`, under [`Key::Setup`](crate::Key::Setup); the agent that ran it writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetupData {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// The value as JSON; none if it is `undefined`, too large, or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    /// The value is the object `setup` in the object store; its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<u64>,
    /// It failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}
