//! The crate against real servers, and against such as lie.

mod mariadb;
mod support;
mod untrue_mysql;
