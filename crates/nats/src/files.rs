//! Files of a run: cut into chunks by the object store, of any size.

use async_nats::jetstream::object_store::InfoErrorKind;
use tokio::io::AsyncReadExt as _;

use crate::error::told;
use crate::{BrokerError, Run};

impl Run {
    fn file(&self, name: &str) -> String {
        format!("{}.{name}", self.id)
    }

    /// Writes a file, over one of that name.
    ///
    /// # Errors
    /// The connection, or a store that is full.
    pub async fn put_file(&self, name: &str, bytes: &[u8]) -> Result<(), BrokerError> {
        let store = self.broker.files().await?;
        let mut reader = bytes;
        let put = store.put(self.file(name).as_str(), &mut reader).await;
        put.map_err(|error| BrokerError::failed("a file could not be stored")(told(&error)))?;
        Ok(())
    }

    /// Reads a file of at most `limit` bytes.
    ///
    /// # Errors
    /// It is not there, or too large; the connection.
    pub async fn file_now(&self, name: &str, limit: u64) -> Result<Vec<u8>, BrokerError> {
        let failed = BrokerError::failed("a file could not be read");
        let store = self.broker.files().await?;
        let file = store.get(self.file(name)).await.map_err(|error| failed(told(&error)))?;
        let size = file.info().size as u64;
        if size > limit {
            return Err(failed(format!("{name} has {size} bytes, more than {limit}")));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        let mut file = file.take(limit + 1);
        file.read_to_end(&mut bytes).await.map_err(|error| failed(told(&error)))?;
        if bytes.len() as u64 != size {
            return Err(failed(format!("{name} has {size} bytes, and {} came", bytes.len())));
        }
        Ok(bytes)
    }

    /// Whether a file is there; `None` if no answer came.
    pub async fn has_file(&self, name: &str) -> Option<bool> {
        let store = self.broker.files().await.ok()?;
        match store.info(self.file(name)).await {
            Ok(info) => Some(!info.deleted),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }

    /// Removes a file; one that is not there is no fault.
    pub async fn remove_file(&self, name: &str) {
        let Ok(store) = self.broker.files().await else { return };
        if let Err(error) = store.delete(self.file(name)).await {
            log::debug!("the file {name} was not removed: {}", told(&error));
        }
    }
}
