//! Server reflection: what services there are, and the files that describe them.

use std::sync::LazyLock;

use prost::Message;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use super::call::{Call, Status};

const FILES: &[(&str, &str)] = &[
    ("hello.proto", include_str!("../../proto/hello.proto")),
    ("route_guide.proto", include_str!("../../proto/route_guide.proto")),
    ("brunt/demo.proto", include_str!("../../proto/brunt/demo.proto")),
    ("grpc/health.proto", include_str!("../../proto/grpc/health.proto")),
    ("grpc/reflection.proto", include_str!("../../proto/grpc/reflection.proto")),
];

/// The version before, which differs in its package only.
const OLDER: &str = "grpc/reflection_v1alpha.proto";

const SERVICES: &[&str] = &[
    "brunt.demo.Echo",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
    "hello.HelloService",
    "main.FeatureExplorer",
    "main.RouteGuide",
];

#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(oneof = "Asked", tags = "3, 4, 5, 6, 7")]
    asked: Option<Asked>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Asked {
    #[prost(string, tag = "3")]
    File(String),
    #[prost(string, tag = "4")]
    Symbol(String),
    #[prost(bytes, tag = "5")]
    Extension(Vec<u8>),
    #[prost(string, tag = "6")]
    Extensions(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(message, optional, tag = "2")]
    question: Option<Question>,
    #[prost(oneof = "Told", tags = "4, 6, 7")]
    told: Option<Told>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Told {
    #[prost(message, tag = "4")]
    Files(Files),
    #[prost(message, tag = "6")]
    Services(Services),
    #[prost(message, tag = "7")]
    Problem(Problem),
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

/// The files of this folder.
struct Own;

impl FileResolver for Own {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let is_older = name == OLDER;
        let wanted = if is_older { "grpc/reflection.proto" } else { name };
        let file = FILES.iter().find(|(known, _)| *known == wanted);
        let (_, source) = file.ok_or_else(|| protox::Error::file_not_found(name))?;
        if is_older {
            let package = "package grpc.reflection.v1";
            return File::from_source(name, &source.replace(package, &format!("{package}alpha")));
        }
        File::from_source(name, source)
    }
}

/// A file: its name, what it defines, its bytes.
struct Described {
    name: String,
    symbols: Vec<String>,
    bytes: Vec<u8>,
}

static DESCRIBED: LazyLock<Vec<Described>> = LazyLock::new(|| {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Own);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    for name in FILES.iter().map(|file| file.0).chain([OLDER]) {
        compiler.open_file(name).expect("our own files are sound");
    }
    let set = compiler.file_descriptor_set();
    set.file
        .into_iter()
        .map(|mut file| {
            file.source_code_info = None;
            let package = file.package().to_owned();
            let named = |name: &str| {
                if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
            };
            let mut symbols = Vec::new();
            for service in &file.service {
                symbols.push(named(service.name()));
                let methods = service.method.iter();
                symbols.extend(
                    methods.map(|method| named(&format!("{}.{}", service.name(), method.name()))),
                );
            }
            symbols.extend(file.message_type.iter().map(|message| named(message.name())));
            symbols.extend(file.enum_type.iter().map(|kind| named(kind.name())));
            let bytes = file.encode_to_vec();
            Described { name: file.name().to_owned(), symbols, bytes }
        })
        .collect()
});

pub(super) async fn answer(call: &mut Call, service: &str) -> Result<(), Status> {
    // Servers without reflection are part of life.
    if call.metadata("demo-refuse").is_some() {
        return Err(Status::new(12, format!("unknown service {service}")));
    }
    while let Some(question) = call.next::<Question>().await? {
        let told = match &question.asked {
            Some(Asked::Services(_)) => Told::Services(Services {
                services: SERVICES.iter().map(|&name| Service { name: name.to_owned() }).collect(),
            }),
            Some(Asked::File(name)) => file(name, |known| known.name == *name),
            Some(Asked::Symbol(symbol)) => file(symbol, |known| known.symbols.contains(symbol)),
            _ => problem("no extensions are known"),
        };
        let host = question.host.clone();
        call.send(&Answer { host, question: Some(question), told: Some(told) }).await?;
    }
    call.begin()
}

fn file(name: &str, is_it: impl Fn(&Described) -> bool) -> Told {
    match DESCRIBED.iter().find(|known| is_it(known)) {
        Some(known) => Told::Files(Files { files: vec![known.bytes.clone()] }),
        None => problem(&format!("{name} is not known")),
    }
}

fn problem(message: &str) -> Told {
    Told::Problem(Problem { code: 5, message: message.to_owned() })
}
