//! Failures, by the names of the Web Cryptography API.

/// The name of an error, which scripts look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// A key's bytes are not what their format demands.
    Data,
    /// The key is not one for this.
    InvalidAccess,
    /// Something that is there has no such format; k6's own name.
    Implementation,
    /// There is no such algorithm, or not for this.
    NotSupported,
    /// It was tried and did not work.
    Operation,
    /// A parameter is missing or senseless.
    Syntax,
    /// A value is of the wrong type.
    Type,
}

impl Name {
    /// As scripts see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Data => "DataError",
            Self::InvalidAccess => "InvalidAccessError",
            Self::Implementation => "ImplementationError",
            Self::NotSupported => "NotSupportedError",
            Self::Operation => "OperationError",
            Self::Syntax => "SyntaxError",
            Self::Type => "TypeError",
        }
    }
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The error's name.
    pub name: Name,
    /// The message.
    pub message: String,
}

impl Failure {
    /// One with this name and message.
    pub fn new(name: Name, message: impl Into<String>) -> Self {
        Self { name, message: message.into() }
    }

    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::new(Name::Data, message)
    }

    pub(crate) fn operation(message: impl Into<String>) -> Self {
        Self::new(Name::Operation, message)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name.as_str(), self.message)
    }
}

impl std::error::Error for Failure {}
