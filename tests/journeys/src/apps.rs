//! The applications, one file each.

mod chat;
mod django;
mod export;
mod graphql;
mod joins;
mod oauth;
mod orders;
mod rails;
mod shell;
mod spa;
mod webforms;

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
