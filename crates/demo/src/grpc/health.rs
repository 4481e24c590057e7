//! `grpc.health.v1.Health`: everything is well, unless it is called `sick`.

use prost::Message;

use super::call::{Call, Status};

#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(int32, tag = "1")]
    status: i32,
}

const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;
const SERVICE_UNKNOWN: i32 = 3;

fn status(service: &str) -> Option<i32> {
    match service {
        ""
        | "hello.HelloService"
        | "main.FeatureExplorer"
        | "main.RouteGuide"
        | "brunt.demo.Echo" => Some(SERVING),
        "sick" => Some(NOT_SERVING),
        _ => None,
    }
}

pub(super) async fn answer(call: &mut Call, method: &str) -> Result<(), Status> {
    let question: Question = call.only().await?;
    let status = status(&question.service);
    match method {
        "Check" => {
            let status = status.ok_or_else(|| Status::new(5, "unknown service"))?;
            call.send(&Answer { status }).await
        }
        // Nothing changes: the first answer is the last, and the call stays open until the client leaves.
        "Watch" => {
            call.send(&Answer { status: status.unwrap_or(SERVICE_UNKNOWN) }).await?;
            while call.next_bytes().await?.is_some() {}
            std::future::pending().await
        }
        _ => Err(Status::unimplemented("grpc.health.v1.Health", method)),
    }
}
