//! The crate against real servers, and against such as lie.

mod mariadb;
mod postgres;
mod support;
mod untrue_mysql;
mod untrue_postgres;
