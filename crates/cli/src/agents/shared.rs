//! Rows, queues and counters of a test over agents: the store behind them is a bucket of NATS.

use std::sync::Arc;

use brunt_leases::{Answer, Entry, Leases, MARK, Put, Store};
use brunt_nats::{self as nats, BrokerError, Run, Value};
use tokio::runtime::Handle;

/// The values of a run. Keys begin with the nonce of its plan: another run of the same name has others.
struct Values {
    run: Run,
    nonce: u64,
}

impl std::fmt::Debug for Values {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "values of the run {}", self.run.id())
    }
}

/// Opens the shared things of a run, on the thread that calls.
pub(super) fn open(leases: &Leases, run: &Run, nonce: u64) {
    leases.open(Arc::new(Values { run: run.clone(), nonce }), Handle::current());
}

/// Says that this store has seen the run begin: for its leader, once.
///
/// # Errors
/// The connection, or no bucket.
pub(super) async fn mark(run: &Run, nonce: u64) -> Result<(), BrokerError> {
    run.put_value(&key(nonce, MARK), Vec::new(), 0).await.map(drop)
}

fn key(nonce: u64, key: &str) -> String {
    format!("{nonce:x}.{key}")
}

impl Values {
    fn at(&self, name: &str) -> (Run, String) {
        (self.run.clone(), key(self.nonce, name))
    }
}

impl Store for Values {
    fn get(&self, key: &str) -> Answer<Option<Entry>> {
        let (run, key) = self.at(key);
        Box::pin(async move { entry(run.value_now(&key).await) })
    }

    fn after(&self, key: &str, revision: u64) -> Answer<Option<Entry>> {
        let (run, key) = self.at(key);
        Box::pin(async move { entry(run.value_after(&key, revision).await) })
    }

    fn put(&self, key: &str, value: Vec<u8>, expected: u64) -> Answer<Put> {
        let (run, key) = self.at(key);
        Box::pin(async move {
            match run.put_value(&key, value, expected).await {
                Ok(nats::Put::Done(revision)) => Ok(Put::Done(revision)),
                Ok(nats::Put::Lost) => Ok(Put::Lost),
                Err(error) => Err(error.to_string()),
            }
        })
    }

    fn remove(&self, key: &str) -> Answer<()> {
        let (run, key) = self.at(key);
        Box::pin(async move { run.remove_value(&key).await.map_err(|error| error.to_string()) })
    }
}

fn entry(got: Result<Option<Value>, BrokerError>) -> Result<Option<Entry>, String> {
    let entry = |value: Value| Entry { value: value.bytes, revision: value.revision };
    got.map(|value| value.map(entry)).map_err(|error| error.to_string())
}
