//! curl commands, Postman collections, OpenAPI documents and access logs as sessions or targets.
#![forbid(unsafe_code)]
