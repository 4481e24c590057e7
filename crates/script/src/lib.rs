//! Script sources: resolving, loading, TypeScript, CommonJS and JSON, positions
#![forbid(unsafe_code)]
