//! The stand-in for MySQL without the rest of the demo target.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::watch;

use super::{DemoError, into_tokio, stand_in_for_mysql, start_thread};
use crate::mysql::{self, MysqlConfig};

/// The stand-in for MySQL alone. See [`FakeMysql::start`].
#[derive(Debug)]
pub struct FakeMysql {
    addr: SocketAddr,
    shared: Arc<mysql::Shared>,
    halt: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl FakeMysql {
    /// Starts a stand-in for MySQL in a thread of its own and returns once it listens. It stops when it is dropped.
    ///
    /// # Errors
    /// [`DemoError`], when a setting makes no sense or the address is taken.
    pub fn start(config: MysqlConfig) -> Result<Self, DemoError> {
        let (listener, addr, shared) = stand_in_for_mysql(config)?;
        let (halt, halted) = watch::channel(false);
        let served = Arc::clone(&shared);
        let work = async move {
            if let Ok(listener) = into_tokio(listener) {
                mysql::serve(listener, served, halted).await;
            }
        };
        let thread = Some(start_thread("demo-mysql".to_owned(), work)?);
        Ok(Self { addr, shared, halt, thread })
    }

    /// The address, with the real port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Makes the rows now. Otherwise they are made when the first client logs in.
    pub fn fill(&self) {
        self.shared.fill();
    }

    /// Its counts, as `/_demo/stats` has them.
    pub fn stats(&self) -> serde_json::Value {
        self.shared.report()
    }
}

impl Drop for FakeMysql {
    fn drop(&mut self) {
        // An error means that the thread has ended by itself, which is as good.
        let _ = self.halt.send(true);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread of the stand-in for MySQL panicked");
        }
    }
}
