//! `grpc.health.v1.Health`: how a server says that it is well.

use prost::Message;

/// The path of the only call.
pub const PATH: &str = "/grpc.health.v1.Health/Check";

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(int32, tag = "1")]
    status: i32,
}

/// The request for a service; an empty name asks for the server as a whole.
pub fn request(service: &str) -> Vec<u8> {
    Request { service: service.to_owned() }.encode_to_vec()
}

/// The status that a response tells: 0 unknown, 1 serving, 2 not serving, 3 service unknown. `None` if it is no response.
pub fn status(response: &[u8]) -> Option<i32> {
    Response::decode(response).ok().map(|response| response.status)
}
