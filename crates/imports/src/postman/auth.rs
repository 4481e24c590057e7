//! How a request proves who sends it: its own way, its folder's, or the collection's.

use serde_json::Value as Json;

use super::content::text;
use super::variables::Variables;
use crate::draft::{Draft, Ledger, basic};
use crate::template::{Kind, Variable};

/// The way of a request or a folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Auth(Option<Json>);

impl Auth {
    /// The way of something inside: its own, or this one if it has none.
    pub(super) fn within(&self, own: Option<&Json>) -> Self {
        let own = own.filter(|own| own.get("type").is_some_and(Json::is_string));
        own.map_or_else(|| self.clone(), |own| Self(Some(own.clone())))
    }

    /// A member of the way: a list of keys and values in version 2.1, an object in 2.0.
    fn member(&self, kind: &str, name: &str) -> Option<String> {
        let members = self.0.as_ref()?.get(kind)?;
        let value = match members {
            Json::Array(list) => {
                let is_it = |entry: &&Json| entry.get("key").and_then(Json::as_str) == Some(name);
                list.iter().find(is_it)?.get("value")?
            }
            other => other.get(name)?,
        };
        Some(text(value)).filter(|value| !value.is_empty())
    }

    /// Adds its header or its parameter to a request.
    pub(super) fn apply(
        &self,
        place: &str,
        draft: &mut Draft,
        variables: &mut Variables,
        ledger: &mut Ledger,
    ) {
        let kind = self.0.as_ref().and_then(|own| own.get("type")).and_then(Json::as_str);
        let mut secret = |name: &str, value: &str, ledger: &mut Ledger| {
            let value = variables.expand(value, ledger);
            if ledger.table.is_in(&value) {
                return value;
            }
            ledger.table.add(Variable { name: name.to_owned(), value, kind: Kind::Secret })
        };
        match kind {
            None | Some("noauth" | "inherit") => {}
            Some("bearer") => {
                let token = self.member("bearer", "token").unwrap_or_default();
                let token = secret("bearerToken", &token, ledger);
                draft.default_header("Authorization", &format!("Bearer {token}"));
            }
            Some("basic") => {
                let user = self.member("basic", "username").unwrap_or_default();
                let password = self.member("basic", "password").unwrap_or_default();
                let (user, password) =
                    (variables.expand(&user, ledger), variables.expand(&password, ledger));
                let value = basic(&ledger.table.resolve(&user), &ledger.table.resolve(&password));
                draft.default_header("Authorization", &value);
                ledger.note("the secret basicCredentials is user:password in base64");
            }
            Some("apikey") => {
                let key = self.member("apikey", "key").unwrap_or_else(|| "X-Api-Key".to_owned());
                let value = self.member("apikey", "value").unwrap_or_default();
                let value = secret(&key, &value, ledger);
                if self.member("apikey", "in").as_deref() == Some("query") {
                    let with = if draft.url.contains('?') { '&' } else { '?' };
                    draft.url = format!("{}{with}{key}={value}", draft.url);
                } else {
                    draft.default_header(&key, &value);
                }
            }
            Some("oauth2") if self.member("oauth2", "accessToken").is_some() => {
                let token = self.member("oauth2", "accessToken").unwrap_or_default();
                let token = secret("accessToken", &token, ledger);
                let prefix = self.member("oauth2", "headerPrefix");
                let prefix = prefix.as_deref().map_or("Bearer", str::trim);
                draft.default_header("Authorization", &format!("{prefix} {token}"));
            }
            Some(other) => ledger.note(format!(
                "{place}: its authorization ({other}) is not in the script; bearer, basic, apikey and an access token are"
            )),
        }
    }
}
