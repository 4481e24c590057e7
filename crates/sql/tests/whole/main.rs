//! The crate against real servers, and against such as lie.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod mariadb;
mod postgres;
mod sqlite;
mod support;
mod untrue_mysql;
mod untrue_postgres;
