//! `brunt k8s manifest`: a test on many pods, as YAML.
//!
//! The chart `deploy/helm/brunt` is the only source: its templates and its values are built in, and [`template`] renders the part
//! of Helm's language that they use. A test renders both ways and compares.

mod manifest;
mod template;
mod values;

pub(crate) use self::manifest::{Manifest, Source, is_label, is_name};
