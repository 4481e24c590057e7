//! `brunt.demo.Echo`: gives back the bytes that came. Metadata of the call says what goes wrong.

use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use http::HeaderName;
use prost::Message;
use tokio::sync::mpsc::Sender;

use super::call::{Call, Status};

/// Messages that `Down` sends at most.
const REPEAT_MAX: usize = 1_000_000;
/// The largest message that is made.
const SIZE_MAX: usize = 64 << 20;

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes, tag = "2")]
    value: Vec<u8>,
}

/// `a_string` of `Everything`.
#[derive(Clone, PartialEq, Message)]
struct Long {
    #[prost(string, tag = "14")]
    a_string: String,
}

pub(super) async fn answer(
    call: &mut Call,
    method: &str,
    goodbye: &Sender<Reason>,
) -> Result<(), Status> {
    show_metadata(call);
    match method {
        "Unary" => {
            let message = call.next_bytes().await?.unwrap_or_default();
            misbehave(call, goodbye).await?;
            give(call, &message).await?;
        }
        "Down" => {
            let message = call.next_bytes().await?.unwrap_or_default();
            let repeat = number(call, "demo-repeat").unwrap_or(3).min(REPEAT_MAX);
            for _ in 0..repeat {
                give(call, &message).await?;
            }
            misbehave(call, goodbye).await?;
        }
        "Up" => {
            let mut last = Bytes::new();
            while let Some(message) = call.next_bytes().await? {
                last = message;
            }
            misbehave(call, goodbye).await?;
            give(call, &last).await?;
        }
        "Both" => {
            let mut left = number(call, "demo-repeat").unwrap_or(usize::MAX);
            while left > 0
                && let Some(message) = call.next_bytes().await?
            {
                give(call, &message).await?;
                left -= 1;
            }
            misbehave(call, goodbye).await?;
        }
        _ => return Err(Status::unimplemented("brunt.demo.Echo", method)),
    }
    call.begin()
}

fn number(call: &Call, name: &str) -> Option<usize> {
    call.metadata(name)?.parse().ok()
}

/// Metadata that begins with `x-` comes back as headers, and as trailers with a `t` before the name.
fn show_metadata(call: &mut Call) {
    for (name, value) in &call.headers {
        if !name.as_str().starts_with("x-") {
            continue;
        }
        call.more_headers.append(name.clone(), value.clone());
        if let Ok(name) = HeaderName::try_from(format!("t{name}")) {
            call.trailers.append(name, value.clone());
        }
    }
    for name in ["user-agent", "te", "grpc-timeout", "content-type", "grpc-accept-encoding"] {
        if let Some(value) = call.headers.get(name)
            && let Ok(name) = HeaderName::try_from(format!("got-{name}"))
        {
            call.more_headers.append(name, value.clone());
        }
    }
}

async fn give(call: &mut Call, message: &[u8]) -> Result<(), Status> {
    match number(call, "demo-size") {
        Some(size) => call.send(&Long { a_string: "x".repeat(size.min(SIZE_MAX)) }).await,
        None => call.send_bytes(message).await,
    }
}

/// Does the fault that the metadata asks for, before the last message (`Unary`, `Up`) or after it.
async fn misbehave(call: &mut Call, goodbye: &Sender<Reason>) -> Result<(), Status> {
    if let Some(delay) = number(call, "demo-delay") {
        tokio::time::sleep(Duration::from_millis(delay as u64)).await;
    }
    if let Some(code) = number(call, "demo-goaway") {
        // Full only if the end has come already.
        let _ = goodbye.try_send(Reason::from(code as u32));
        std::future::pending::<()>().await;
    }
    if let Some(code) = number(call, "demo-reset") {
        call.reset(Reason::from(code as u32));
        return Ok(());
    }
    if call.metadata("demo-garbage").is_some() {
        call.send_bytes(&[0xff; 9]).await?;
    }
    if call.metadata("demo-compressed").is_some() {
        call.send_raw(Bytes::from_static(&[1, 0, 0, 0, 2, 8, 1])).await?;
    }
    if let Some(code) = number(call, "demo-status") {
        let message = call.metadata("demo-message").unwrap_or("as you wish").to_owned();
        let status = Status::new(code as u32, message.clone());
        return Err(match call.metadata("demo-details") {
            None => status,
            Some(detail) => {
                let inner = Long { a_string: detail.to_owned() };
                let any = Any {
                    type_url: "type.googleapis.com/brunt.demo.Everything".to_owned(),
                    value: inner.encode_to_vec(),
                };
                let rpc = RpcStatus { code: code as i32, message, details: vec![any] };
                status.with_details(rpc.encode_to_vec())
            }
        });
    }
    Ok(())
}
