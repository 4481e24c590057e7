//! The services, and the types of their messages: from `.proto` files, descriptor sets or a server's reflection.

use std::sync::Arc;

use prost::Message as _;
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use rustc_hash::FxHashMap;

use crate::json::{self, DecodeError, EncodeError};
use crate::types::{MessageId, Types};

/// Gives the text of a `.proto` file by the name that `import` uses. `None`: there is none. An error is why it cannot be
/// read.
pub type FileSource = Box<dyn Fn(&str) -> Option<Result<String, String>> + Send + Sync>;

/// A description that is wrong. The message names the file and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

/// Services and the types of their messages. Immutable, shared by all VUs.
#[derive(Debug)]
pub struct Schema {
    types: Types,
    methods: Vec<Arc<Method>>,
    by_path: FxHashMap<Box<str>, usize>,
}

/// A method of a service.
#[derive(Debug, PartialEq, Eq)]
pub struct Method {
    /// `/package.Service/Method`.
    pub path: String,
    /// The package, perhaps empty.
    pub package: String,
    /// The service, without its package.
    pub service: String,
    /// The method alone.
    pub name: String,
    /// The client sends many messages.
    pub is_client_stream: bool,
    /// The server sends many messages.
    pub is_server_stream: bool,
    input: MessageId,
    output: MessageId,
}

/// The files of a script.
struct Given(FileSource);

impl FileResolver for Given {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match (self.0)(name) {
            None => Err(protox::Error::file_not_found(name)),
            Some(Ok(text)) => File::from_source(name, &text),
            Some(Err(told)) => Err(protox::Error::new(std::io::Error::other(told))),
        }
    }
}

impl Schema {
    /// Compiles `.proto` files and what they import. The files of `google/protobuf` are always there.
    ///
    /// # Errors
    /// The first mistake of a file.
    pub fn compile(files: &[String], source: FileSource) -> Result<Self, SchemaError> {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Given(source));
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for file in files {
            compiler.open_file(file).map_err(|error| SchemaError(told(&error)))?;
        }
        let set = compiler.file_descriptor_set();
        Self::of(set)
    }

    /// Reads a `FileDescriptorSet`.
    ///
    /// # Errors
    /// If the bytes are none, or if what it needs is not in it.
    pub fn from_protoset(bytes: &[u8]) -> Result<Self, SchemaError> {
        let set = FileDescriptorSet::decode(bytes);
        Self::of(set.map_err(|error| SchemaError(format!("couldn't unmarshal protoset: {error}")))?)
    }

    /// Reads file descriptors, in any order.
    ///
    /// # Errors
    /// If the bytes are none, or if what they need is not among them.
    pub fn from_files(files: &[Vec<u8>]) -> Result<Self, SchemaError> {
        let mut set = FileDescriptorSet::default();
        for bytes in files {
            let file = FileDescriptorProto::decode(&**bytes);
            set.file.push(file.map_err(|error| SchemaError(error.to_string()))?);
        }
        Self::of(set)
    }

    fn of(set: FileDescriptorSet) -> Result<Self, SchemaError> {
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(sorted(set.file))
            .map_err(|error| SchemaError(error.to_string()))?;
        let types = Types::of(&pool);
        let mut files: Vec<_> = pool.files().collect();
        files.sort_by(|a, b| a.name().cmp(b.name()));
        let mut methods = Vec::new();
        let mut by_path = FxHashMap::default();
        let find = |name: &str| types.find(name).expect("a pool holds the types of its methods");
        for service in files.iter().flat_map(|file| file.services().collect::<Vec<_>>()) {
            for method in service.methods() {
                let path = format!("/{}/{}", service.full_name(), method.name());
                by_path.insert(path.as_str().into(), methods.len());
                methods.push(Arc::new(Method {
                    path,
                    package: service.package_name().to_owned(),
                    service: service.name().to_owned(),
                    name: method.name().to_owned(),
                    is_client_stream: method.is_client_streaming(),
                    is_server_stream: method.is_server_streaming(),
                    input: find(method.input().full_name()),
                    output: find(method.output().full_name()),
                }));
            }
        }
        Ok(Self { types, methods, by_path })
    }

    /// All methods, by file and in its order.
    pub fn methods(&self) -> &[Arc<Method>] {
        &self.methods
    }

    /// The method of this path, which begins with a slash.
    pub fn find(&self, path: &str) -> Option<&Arc<Method>> {
        self.by_path.get(path).map(|&index| &self.methods[index])
    }

    /// The bytes of a request that is given as JSON, behind what `out` holds already.
    ///
    /// # Errors
    /// Why the text is no such message.
    pub fn encode(
        &self,
        method: &Method,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        json::encode(&self.types, method.input, text, out)
    }

    /// A response as JSON.
    ///
    /// # Errors
    /// Why the bytes are no such message.
    pub fn decode(&self, method: &Method, bytes: &[u8]) -> Result<String, DecodeError> {
        let mut out = String::with_capacity(32 + bytes.len() * 2);
        json::decode(&self.types, method.output, bytes, &mut out)?;
        Ok(out)
    }

    /// A request as JSON.
    ///
    /// # Errors
    /// The bytes are no message of the method's input.
    pub fn decode_request(&self, method: &Method, bytes: &[u8]) -> Result<String, DecodeError> {
        let mut out = String::with_capacity(32 + bytes.len() * 2);
        json::decode(&self.types, method.input, bytes, &mut out)?;
        Ok(out)
    }

    /// A `google.protobuf.Any` as JSON; what is not known is shown as Base64.
    pub fn decode_any(&self, url: &str, bytes: &[u8]) -> String {
        let name = url.rsplit('/').next().unwrap_or_default();
        json::any(&self.types, self.types.find(name), url, bytes)
    }
}

/// Imports before those who import them. A pool wants them so; servers and sets may have any order.
fn sorted(files: Vec<FileDescriptorProto>) -> Vec<FileDescriptorProto> {
    let mut left: Vec<_> = files;
    let mut sorted: Vec<FileDescriptorProto> = Vec::with_capacity(left.len());
    left.sort_by(|a, b| a.name().cmp(b.name()));
    left.dedup_by(|a, b| a.name() == b.name());
    loop {
        let before = sorted.len();
        let names: Vec<String> = left.iter().map(|file| file.name().to_owned()).collect();
        let mut waiting = Vec::new();
        for file in left {
            let waits = |import: &String| {
                names.contains(import) && !sorted.iter().any(|known| known.name() == import)
            };
            if file.dependency.iter().any(waits) {
                waiting.push(file);
            } else {
                sorted.push(file);
            }
        }
        left = waiting;
        if left.is_empty() || sorted.len() == before {
            // A circle is the pool's to complain about.
            sorted.extend(left);
            return sorted;
        }
    }
}

/// The fault, with file, line and column if they are known.
fn told(error: &protox::Error) -> String {
    let text = error.to_string();
    // The place is in the debug form only.
    let debug = format!("{error:?}");
    match debug.lines().next() {
        Some(first) if first.contains(&text) => first.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
