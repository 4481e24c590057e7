//! The rules of the application: which request gets which page.

use std::sync::atomic::Ordering::Relaxed;

use super::order::{NOTE_MAX, Order, QUANTITY_MAX};
use super::page::{self, Receipt, Screen};
use super::session::{Session, Views, lock};
use super::steps::{Step, Steps};
use super::token::Token;
use super::view::{Page, View};
use super::{Forms, Refused};

/// The password of every user.
const PASSWORD: &str = "secret";
/// Characters of the longest name of a user, and of what an upload's page repeats: names of files are not longer.
const TEXT_MAX: usize = 255;

/// The part of a request that the rules look at.
#[derive(Debug, Default)]
pub(super) struct Ask {
    /// The page; `None` to log out.
    pub(super) page: Option<Page>,
    pub(super) is_post: bool,
    /// Whether a script in the browser asks for a part of the page.
    pub(super) is_partial: bool,
    /// The session that the cookie names.
    pub(super) session: Option<u128>,
    /// The order that the query names.
    pub(super) order: Option<u64>,
    pub(super) posted: Posted,
}

/// The fields of a form, and its file.
#[derive(Debug, Default)]
pub(super) struct Posted {
    pub(super) fields: Vec<(String, String)>,
    pub(super) file: Option<File>,
}

/// A file that came.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) bytes: usize,
    pub(super) sha256: String,
}

impl Posted {
    /// The first field of this name; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// The answer, but for the form that HTTP gives it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
    /// Whether the text is XML for a script in the browser; else it is a page.
    pub(super) is_partial: bool,
    /// The page to go to.
    pub(super) location: Option<&'static str>,
    /// The session that begins with it.
    pub(super) session: Option<u128>,
}

impl Answer {
    fn new(status: u16, text: String, ask: &Ask) -> Self {
        Self { status, text, is_partial: ask.is_partial, location: None, session: None }
    }

    fn redirect(page: Page, ask: &Ask) -> Self {
        if ask.is_partial {
            return Self::new(200, page::partial_redirect(page.path()), ask);
        }
        Self { location: Some(page.path()), ..Self::new(302, String::new(), ask) }
    }
}

/// The first letters of a text.
fn short(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

impl Forms {
    /// The answer to a request.
    pub(super) fn respond(&self, ask: &Ask) -> Answer {
        let found = ask.session.and_then(|id| self.sessions.find(id));
        let (session, is_new) = match found {
            Some(session) => (session, false),
            None if ask.page == Some(Page::Login) && !ask.is_post => (self.begin(), true),
            None => return self.to_login(ask),
        };
        let mut session = lock(&session);
        if ask.page != Some(Page::Login) && session.user.is_none() {
            return self.to_login(ask);
        }
        let mut answer = match (ask.page, ask.is_post) {
            (_, true) => match self.restore(&mut session, ask) {
                Ok(view) => self.submit(&mut session, view, ask),
                Err(refused) => self.refuse(refused, ask),
            },
            (Some(page), false) => self.show(&mut session, page, ask),
            (None, false) => Answer::redirect(Page::Login, ask),
        };
        if is_new {
            answer.session = Some(session.id);
        }
        answer
    }

    fn begin(&self) -> super::session::Shared {
        self.sessions.begin(Session {
            id: (u128::from(self.dice.bits()) << 64) | u128::from(self.dice.bits()),
            user: None,
            orders: Vec::new(),
            views: Views::new(self.config.views, self.kept.clone()),
            steps: Steps::default(),
        })
    }

    fn to_login(&self, ask: &Ask) -> Answer {
        self.counts.no_session.fetch_add(1, Relaxed);
        Answer::redirect(Page::Login, ask)
    }

    /// The view that the token of a POST belongs to.
    fn restore(&self, session: &mut Session, ask: &Ask) -> Result<View, Refused> {
        let text = ask.posted.get(&self.look.state_name());
        if text.is_empty() {
            return Err(Refused::Missing);
        }
        let token = self.mint.read(text).ok_or(Refused::Malformed)?;
        if token.session != session.id {
            return Err(Refused::Foreign);
        }
        let given = session.views.find(token.serial).ok_or(Refused::Expired)?;
        if given.is_used && self.config.one_time {
            return Err(Refused::Used);
        }
        let view = given.view.or(token.view).ok_or(Refused::Malformed)?;
        // The form that logs out is on every page.
        if ask.page.is_some_and(|page| page != view.page) {
            return Err(Refused::OtherView);
        }
        // A new login in the same session has other orders.
        let is_gone = session.orders.iter().all(|order| order.id != view.order);
        if ask.page == Some(Page::Order) && is_gone {
            return Err(Refused::Expired);
        }
        given.is_used = true;
        self.counts.accepted.fetch_add(1, Relaxed);
        Ok(view)
    }

    fn refuse(&self, refused: Refused, ask: &Ask) -> Answer {
        self.counts.refused[refused as usize].fetch_add(1, Relaxed);
        let path = ask.page.map_or("/app/logout.xhtml", Page::path);
        let reason = refused.reason();
        let (status, name, sentence) = if refused == Refused::Used {
            (409, "DoubleSubmit".to_owned(), format!("the form was sent twice: {reason}"))
        } else {
            let status = if self.config.soft_errors { 200 } else { 500 };
            (status, self.look.exception(), format!("the view {path} cannot be restored: {reason}"))
        };
        if ask.is_partial {
            return Answer::new(status, page::partial_error(&name, &sentence), ask);
        }
        let title = if status == 200 { "Error".to_owned() } else { format!("Error {status}") };
        let html = page::error(self.look, &title, &format!("{name}: {sentence}"));
        Answer::new(status, html, ask)
    }

    fn done(&self, session: &mut Session, step: Step) {
        session.steps.add(step);
        self.counts.steps.add(step);
    }

    /// A page with a new token.
    fn render(
        &self,
        views: &mut Views,
        session: u128,
        view: View,
        screen: &Screen<'_>,
        ask: &Ask,
    ) -> Answer {
        let is_ours = !self.config.client_state;
        let serial = views.give(is_ours.then_some(view));
        let token = Token { session, serial, view: (!is_ours).then_some(view) };
        let token = self.mint.make(&token);
        self.counts.given.fetch_add(1, Relaxed);
        let text = if ask.is_partial { screen.partial(&token) } else { screen.whole(&token) };
        Answer::new(200, text, ask)
    }

    fn show(&self, session: &mut Session, page: Page, ask: &Ask) -> Answer {
        let step = match page {
            Page::Login => Step::LoginPage,
            Page::Orders => Step::Orders,
            Page::Order => Step::Order,
            Page::Upload => Step::UploadPage,
        };
        let mut view = page.view();
        let Session { id, user, orders, views, .. } = &mut *session;
        let user = user.as_deref();
        let screen = match page {
            Page::Login => page::login(self.look, "", None),
            Page::Orders => page::orders(self.look, user, orders, ""),
            Page::Upload => page::upload(self.look, user, None, None),
            Page::Order => {
                let wanted = ask.order.and_then(|id| orders.iter().find(|order| order.id == id));
                let Some(order) = wanted else {
                    let sentence = "You have no such order.";
                    return Answer::new(404, page::error(self.look, "Error 404", sentence), ask);
                };
                view.order = order.id;
                page::order(self.look, user, order, None)
            }
        };
        let answer = self.render(views, *id, view, &screen, ask);
        self.done(session, step);
        answer
    }

    fn submit(&self, session: &mut Session, view: View, ask: &Ask) -> Answer {
        match ask.page {
            Some(Page::Login) => self.log_in(session, ask),
            Some(Page::Orders) => self.filter(session, ask),
            Some(Page::Order) => self.edit(session, view, ask),
            Some(Page::Upload) => self.upload(session, ask),
            None => self.log_out(session, ask),
        }
    }

    fn log_in(&self, session: &mut Session, ask: &Ask) -> Answer {
        let user = ask.posted.get("form:user");
        if user.trim().is_empty()
            || user.chars().count() > TEXT_MAX
            || ask.posted.get("form:password") != PASSWORD
        {
            self.counts.wrong_passwords.fetch_add(1, Relaxed);
            let user = short(user);
            let screen =
                page::login(self.look, &user, Some("The user name or the password is wrong."));
            return self.render(&mut session.views, session.id, Page::Login.view(), &screen, ask);
        }
        session.user = Some(user.to_owned());
        session.orders = Order::draw(&self.dice);
        session.steps = Steps::default();
        session.steps.add(Step::LoginPage);
        self.done(session, Step::Login);
        Answer::redirect(Page::Orders, ask)
    }

    fn filter(&self, session: &mut Session, ask: &Ask) -> Answer {
        let is_all = ask.posted.fields.iter().any(|(name, _)| name == "form:all");
        let filter = if is_all { String::new() } else { short(ask.posted.get("form:filter")) };
        let Session { id, user, orders, views, .. } = &mut *session;
        let screen = page::orders(self.look, user.as_deref(), orders, &filter);
        let answer = self.render(views, *id, Page::Orders.view(), &screen, ask);
        self.done(session, Step::Filter);
        answer
    }

    fn edit(&self, session: &mut Session, view: View, ask: &Ask) -> Answer {
        let Session { id, user, orders, views, .. } = &mut *session;
        let order = orders.iter_mut().find(|order| order.id == view.order);
        let order = order.expect("a view is restored only while its order is there");
        let quantity = ask.posted.get("form:quantity").trim().parse();
        let note = ask.posted.get("form:note").trim();
        let version = ask.posted.get("form:version");
        let wrong = match quantity {
            _ if version != order.version.to_string() => {
                self.counts.stale_versions.fetch_add(1, Relaxed);
                "The order was changed in the meantime."
            }
            _ if note.chars().count() > NOTE_MAX => "The note is too long.",
            Ok(quantity @ 1..=QUANTITY_MAX) => {
                order.quantity = quantity;
                note.clone_into(&mut order.note);
                order.version += 1;
                self.done(session, Step::Edit);
                return Answer::redirect(Page::Orders, ask);
            }
            _ => "The quantity is not a number from 1 to 999.",
        };
        let screen = page::order(self.look, user.as_deref(), order, Some(wrong));
        self.render(views, *id, view, &screen, ask)
    }

    fn upload(&self, session: &mut Session, ask: &Ask) -> Answer {
        let posted = &ask.posted;
        let receipt = posted.file.as_ref().map(|file| Receipt {
            name: short(&file.name),
            bytes: file.bytes,
            sha256: file.sha256.clone(),
            fields: ["form_field_1", "form_field_2"].map(|name| short(posted.get(name))),
        });
        let wrong = receipt.is_none().then_some("No file was chosen.");
        let Session { id, user, views, .. } = &mut *session;
        let screen = page::upload(self.look, user.as_deref(), receipt.as_ref(), wrong);
        let answer = self.render(views, *id, Page::Upload.view(), &screen, ask);
        if let Some(receipt) = receipt {
            self.counts.files.fetch_add(1, Relaxed);
            self.counts.file_bytes.fetch_add(receipt.bytes as u64, Relaxed);
            self.done(session, Step::Upload);
        }
        answer
    }

    fn log_out(&self, session: &mut Session, ask: &Ask) -> Answer {
        self.done(session, Step::Logout);
        if session.steps.are_all() {
            self.counts.journeys.fetch_add(1, Relaxed);
        }
        // A request that still waits for the session finds it logged out.
        session.user = None;
        self.sessions.end(session.id);
        Answer::redirect(Page::Login, ask)
    }
}

#[cfg(test)]
mod tests;
