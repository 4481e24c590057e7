//! The parts of pages that all applications have.

use crate::call::{Call, Reply};

/// The static files of every application.
pub(crate) fn file(call: &Call) -> Option<Reply> {
    let (kind, text) = match call.path.as_str() {
        "/static/app.css" => ("text/css", "body { font: 1em sans-serif }\n"),
        "/static/app.js" => ("text/javascript", "'use strict';\nconst version = '4f9d2c81';\n"),
        "/static/logo.svg" => ("image/svg+xml", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
        "/favicon.ico" => return Some(Reply::new(404, "text/plain", "none")),
        _ => return None,
    };
    Some(Reply::new(200, kind, text).with("Cache-Control", "max-age=86400"))
}

/// The head of every page.
pub(crate) fn head(title: &str, more: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n{more}\
         <link rel=\"stylesheet\" href=\"/static/app.css\">\n<script src=\"/static/app.js\"></script>\n</head>\n"
    )
}
