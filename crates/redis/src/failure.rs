//! Why there is no reply.

use thiserror::Error;

/// Why a command has no reply. The texts are those that k6's scripts know, where they know any.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// There is nothing there.
    #[error("redis: nil")]
    Nil,
    /// The server's own words.
    #[error("{0}")]
    Server(String),
    /// No connection, or one that broke.
    #[error("{0}")]
    Network(String),
    /// The server speaks something else.
    #[error("redis: the server's reply is not in its protocol: {0}")]
    Malformed(&'static str),
    /// It took too long.
    #[error("i/o timeout")]
    Timeout,
    /// A new connection is open, but the server does not greet us. As in k6, it is not tried again.
    #[error("i/o timeout")]
    GreetingTimeout,
    /// All connections are at work for too long.
    #[error("redis: connection pool timeout")]
    Busy,
    /// The cluster sent the command from one server to the next.
    #[error("redis: too many redirects in the cluster")]
    Redirects,
    /// No sentinel knows the master.
    #[error("redis: all sentinels specified in configuration are unreachable: redis: nil")]
    NoMaster,
}

impl Failure {
    /// Another try may help. The command may have been carried out if its reply was lost, as with k6's client.
    pub(crate) fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Network(_) | Self::Timeout => true,
            Self::Server(words) => {
                ["LOADING ", "TRYAGAIN ", "CLUSTERDOWN "].iter().any(|word| words.starts_with(word))
            }
            _ => false,
        }
    }
}
