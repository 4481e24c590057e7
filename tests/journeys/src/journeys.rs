//! The journeys.

mod apis;
mod jsf;
mod pages;
mod scripts;

use brunt_demo::FormConfig;

use crate::apps::{Chat, Django, Export, Graph, Joins, Oauth, Orders, Rails, Spa, WebForms, boxed};
use crate::browser::{Browser, Taken};
use crate::site::Site;
use crate::user::User;

/// A way through an application.
pub struct Journey {
    /// For tables and tests: `django-change`.
    pub name: &'static str,
    /// The kind of application.
    pub style: &'static str,
    start: fn(u64) -> Site,
    drive: fn(&mut Browser, &[String], &User),
}

impl Journey {
    /// The journey of this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(name: &str) -> &'static Self {
        let found = ALL.iter().find(|journey| journey.name == name);
        found.unwrap_or_else(|| panic!("there is no journey {name}"))
    }

    /// Starts its application.
    pub fn start(&self, seed: u64) -> Site {
        (self.start)(seed)
    }

    /// Makes it as a user with a browser, and gives what was recorded.
    pub fn record(&self, site: &Site, user: &User, seed: u64) -> Taken {
        self.record_at(&site.origins, user, seed)
    }

    /// The same at an application that runs elsewhere, by its origins.
    pub fn record_at(&self, origins: &[String], user: &User, seed: u64) -> Taken {
        let mut browser = Browser::new(seed);
        (self.drive)(&mut browser, origins, user);
        browser.taken()
    }
}

macro_rules! journeys {
    ($($name:literal $style:literal $start:expr, $drive:path;)*) => {
        /// All journeys.
        pub const ALL: &[Journey] = &[$(Journey {
            name: $name,
            style: $style,
            start: $start,
            drive: $drive,
        },)*];
    };
}

journeys! {
    "jsf-server" "JSF, state of the server"
        |seed| Site::demo(FormConfig::default(), seed), jsf::whole;
    "jsf-client" "JSF, state of the client"
        |seed| Site::demo(FormConfig { client_state: true, html_entities: true, ..FormConfig::default() }, seed), jsf::whole;
    "jakarta-partial" "JSF, state of the server"
        |seed| Site::demo(FormConfig { jakarta: true, one_time: true, soft_errors: true, ..FormConfig::default() }, seed), jsf::partial;
    "jakarta-entities" "JSF, state of the client"
        |seed| Site::demo(FormConfig { jakarta: true, client_state: true, html_entities: true, one_time: true, ..FormConfig::default() }, seed), jsf::partial;
    "webforms-grid" "ASP.NET WebForms"
        |seed| Site::start(|seed, _| boxed(WebForms::new(seed)), 1, seed), pages::webforms_grid;
    "webforms-panel" "ASP.NET WebForms"
        |seed| Site::start(|seed, _| boxed(WebForms::new(seed)), 1, seed), pages::webforms_panel;
    "django-change" "Django"
        |seed| Site::start(|seed, origins| boxed(Django::new(seed, origins)), 1, seed), pages::django_change;
    "django-select" "Django"
        |seed| Site::start(|seed, origins| boxed(Django::new(seed, origins)), 1, seed), pages::django_select;
    "rails-forms" "Rails"
        |seed| Site::start(|seed, _| boxed(Rails::new(seed)), 1, seed), pages::rails_forms;
    "rails-fetch" "Rails"
        |seed| Site::start(|seed, _| boxed(Rails::new(seed)), 1, seed), scripts::rails_fetch;
    "orders-jwt" "JSON with JWT and refresh"
        |seed| Site::start(|seed, _| boxed(Orders::new(seed)), 1, seed), apis::orders;
    "oauth-page" "OAuth code with PKCE"
        |seed| Site::start(|seed, origins| boxed(Oauth::new(seed, origins)), 2, seed), apis::oauth_page;
    "oauth-server" "OAuth code with PKCE"
        |seed| Site::start(|seed, origins| boxed(Oauth::new(seed, origins)), 2, seed), pages::oauth_server;
    "graphql-relay" "GraphQL with cursors"
        |seed| Site::start(|seed, _| boxed(Graph::new(seed)), 1, seed), apis::graphql;
    "joins" "joins and codings"
        |seed| Site::start(|seed, _| boxed(Joins::new(seed)), 1, seed), scripts::joins;
    "spa-upload" "page state, signed upload"
        |seed| Site::start(|seed, origins| boxed(Spa::new(seed, origins)), 2, seed), scripts::spa;
    "chat-ticket" "WebSocket with a ticket"
        |seed| Site::start(|seed, _| boxed(Chat::new(seed)), 1, seed), scripts::chat;
    "export-events" "ASP.NET Core, event stream"
        |seed| Site::start(|seed, _| boxed(Export::new(seed)), 1, seed), scripts::export;
}
