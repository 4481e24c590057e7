//! The built binary, as users meet it. One test binary, so that it links once.
#![forbid(unsafe_code)]

mod archives;
mod attack;
mod bad_bodies;
mod bad_input;
mod command_line;
mod corpus;
mod dashboard;
mod data;
mod demo;
mod examples;
mod fasthttp;
mod fetch;
mod grpc;
mod grpc_answers;
mod house;
mod html;
mod http2;
mod image_handler;
mod language;
mod login;
mod network;
mod outputs;
mod redis;
mod remote;
mod remote_modules;
mod results;
mod run;
mod secrets;
mod streaming;
mod support;
mod switches;
mod traces;
mod veiled;
mod web;
mod websocket;
