//! The built binary, as users meet it. One test binary, so that it links once.
#![forbid(unsafe_code)]

mod attack;
mod bad_bodies;
mod bad_input;
mod command_line;
mod data;
mod demo;
mod examples;
mod fasthttp;
mod fetch;
mod house;
mod image_handler;
mod language;
mod network;
mod outputs;
mod results;
mod run;
mod streaming;
mod support;
mod web;
