//! The applications, one file each.

mod chat;
mod django;
mod export;
mod graphql;
mod joins;
mod oauth;
mod orders;
mod rails;
mod spa;
mod webforms;

use std::collections::BTreeMap;

use crate::app::App;
use crate::call::{Call, Reply};

pub(crate) use self::chat::Chat;
pub(crate) use self::django::Django;
pub(crate) use self::export::Export;
pub(crate) use self::graphql::{Graph, hash};
pub(crate) use self::joins::Joins;
pub(crate) use self::oauth::Oauth;
pub(crate) use self::orders::Orders;
pub(crate) use self::rails::Rails;
pub(crate) use self::spa::Spa;
pub(crate) use self::webforms::WebForms;

/// The accounts of every application.
pub(crate) const ACCOUNTS: [(&str, &str); 2] =
    [("ada.lovelace", "Engine-No.1842"), ("grace.hopper", "Moth&Relay=47")];

/// Whether an account has this password.
pub(crate) fn knows(user: &str, password: &str) -> bool {
    ACCOUNTS.contains(&(user, password))
}

/// The sessions of an application, by the text that names each.
pub(crate) type Sessions<T> = BTreeMap<String, T>;

/// Makes an application for a site.
pub(crate) fn boxed<T: App + 'static>(app: T) -> Box<dyn App> {
    Box::new(app)
}

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
