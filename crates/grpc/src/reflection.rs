//! Server reflection: a server tells what services it has.

use std::rc::Rc;
use std::time::Duration;

use prost::Message;

use crate::channel::{Call, Channel, Streaming};
use crate::metadata::Metadata;
use crate::schema::{Schema, SchemaError};
use crate::status::Status;

/// Files that are taken from a server, and their bytes in all.
const FILES_MAX: usize = 10_000;
const BYTES_MAX: usize = 64 << 20;

/// The newer version first.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Why there is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectionError {
    /// The server does not tell.
    #[error("can't list services: {}", .0.as_error())]
    Refused(Status),
    /// It tells of a service, but not what it is.
    #[error("can't get file descriptor for {name:?}: {told}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The server's message.
        told: String,
    },
    /// It tells more than we take.
    #[error("the server describes more than {FILES_MAX} files or {BYTES_MAX} bytes")]
    TooMuch,
    /// Its descriptions do not fit together.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// The result of asking: the schema, and how each call for it ended (for measurements).
#[derive(Debug)]
pub struct Reflected {
    /// The services of the server.
    pub schema: Result<Schema, ReflectionError>,
    /// The code of each call that failed: k6 measures none that succeeds.
    pub codes: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, optional, tag = "3")]
    file: Option<String>,
    #[prost(string, optional, tag = "4")]
    symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    problem: Option<Problem>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Problem {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// The needed part of a file descriptor.
#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    imports: Vec<String>,
}

/// Asks a server for all its services. It is told that it has so much time; keeping to it is the caller's business.
pub async fn reflect(
    channel: &Rc<Channel>,
    metadata: Option<&Metadata>,
    limit: Duration,
) -> Reflected {
    let mut codes = Vec::new();
    let mut refusal = Status::default();
    for path in PATHS {
        let call = Call { path, metadata, timeout: Some(limit) };
        let asked = match channel.stream(&call).await {
            Ok(mut streaming) => {
                let told = ask_all(&mut streaming).await;
                if !matches!(told, Err(Failure::Status(_))) {
                    streaming.sender.finish();
                    let ended = streaming.receiver.next().await;
                    let code = ended.err().map_or(Status::CANCELED, |status| status.code);
                    if told.is_err() {
                        codes.push(code);
                    }
                }
                told
            }
            Err(status) => Err(Failure::Status(status)),
        };
        match asked {
            Ok(files) => {
                return Reflected { schema: Schema::from_files(&files).map_err(Into::into), codes };
            }
            Err(Failure::Status(status)) => {
                codes.push(status.code);
                let is_unknown = status.code == Status::UNIMPLEMENTED;
                refusal = status;
                if !is_unknown {
                    break;
                }
            }
            Err(Failure::Other(error)) => return Reflected { schema: Err(error), codes },
        }
    }
    Reflected { schema: Err(ReflectionError::Refused(refusal)), codes }
}

enum Failure {
    Status(Status),
    Other(ReflectionError),
}

async fn ask(streaming: &mut Streaming, question: &Question) -> Result<Answer, Failure> {
    // If it wants no more, the receiver tells why.
    streaming.sender.send(&question.encode_to_vec()).await.map_err(Failure::Status)?;
    let bytes = streaming.receiver.next().await.map_err(Failure::Status)?;
    Answer::decode(bytes)
        .map_err(|error| Failure::Status(Status::new(Status::INTERNAL, error.to_string())))
}

/// All files that describe the services, and what they import.
async fn ask_all(streaming: &mut Streaming) -> Result<Vec<Vec<u8>>, Failure> {
    let question = Question { services: Some(String::new()), ..Question::default() };
    let answer = ask(streaming, &question).await?;
    if let Some(problem) = answer.problem {
        let code = u32::try_from(problem.code).unwrap_or(Status::UNKNOWN);
        return Err(Failure::Status(Status::new(code, problem.message)));
    }
    let mut known = Known::default();
    for service in answer.services.unwrap_or_default().services {
        let question = Question { symbol: Some(service.name.clone()), ..Question::default() };
        let answer = ask(streaming, &question).await?;
        known.take(&service.name, answer)?;
    }
    while let Some(name) = known.missing() {
        let question = Question { file: Some(name.clone()), ..Question::default() };
        let answer = ask(streaming, &question).await?;
        known.take(&name, answer)?;
    }
    Ok(known.files.into_iter().map(|(_, bytes)| bytes).collect())
}

/// The files that came.
#[derive(Default)]
struct Known {
    files: Vec<(File, Vec<u8>)>,
    size: usize,
    asked: Vec<String>,
}

impl Known {
    fn take(&mut self, name: &str, answer: Answer) -> Result<(), Failure> {
        let unknown =
            |told: String| Failure::Other(ReflectionError::Unknown { name: name.to_owned(), told });
        let Some(files) = answer.files else {
            let told = answer.problem.map_or_else(|| "no answer".to_owned(), |p| p.message);
            return Err(unknown(told));
        };
        for bytes in files.files {
            let file = File::decode(&*bytes).map_err(|error| unknown(error.to_string()))?;
            if self.files.iter().any(|(known, _)| known.name == file.name) {
                continue;
            }
            self.size += bytes.len();
            self.files.push((file, bytes));
            if self.files.len() > FILES_MAX || self.size > BYTES_MAX {
                return Err(Failure::Other(ReflectionError::TooMuch));
            }
        }
        Ok(())
    }

    /// A file that another imports and that did not come yet; each is asked for once.
    fn missing(&mut self) -> Option<String> {
        let has = |name: &String| self.files.iter().any(|(file, _)| file.name == *name);
        let mut imports = self.files.iter().flat_map(|(file, _)| &file.imports);
        let missing = imports.find(|name| !has(name) && !self.asked.contains(name)).cloned()?;
        self.asked.push(missing.clone());
        Some(missing)
    }
}
