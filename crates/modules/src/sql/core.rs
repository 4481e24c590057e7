//! State of a core, which its VUs share: databases by their DSNs, statements by their texts, series by their tags.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use brunt_fiber::clock;
use brunt_js::{CoreSlot, Host, SlotKey};
use brunt_net::Network;
use brunt_sql::statement::{self, folded};
use brunt_sql::{Args, Chunk, Config, Driver, Failure, Pool, PoolOptions};
use rustc_hash::FxHashMap;

use super::record::SeriesCache;
use crate::state::VuState;

/// Statements that are remembered by their text; a script that makes up texts without end starts over.
const STATEMENTS_MAX: usize = 1024;

/// Longer texts are folded each time.
const TEXT_MAX: usize = 64 * 1024;

/// Values of the tag `statement`; further ones are [`OTHER`].
const LABELS_MAX: usize = 1000;

/// The statement of many.
const OTHER: &str = "other";

/// Databases that are remembered; a script that makes up DSNs without end starts over.
const PLACES_MAX: usize = 64;

/// Sets of tags and names of scripts that are remembered.
const MARKS_MAX: usize = 1024;

/// A pool that the VUs of a core share, by its place and its limits.
type SharedPool = (Rc<Place>, PoolOptions, Weak<Pool>);

/// The state.
pub(super) struct SqlCore {
    places: RefCell<Vec<Rc<Place>>>,
    pools: RefCell<Vec<SharedPool>>,
    /// By driver.
    statements: RefCell<[FxHashMap<Box<str>, Rc<Statement>>; Driver::ALL.len()]>,
    labels: RefCell<FxHashMap<Box<str>, Rc<Label>>>,
    marks: RefCell<FxHashMap<Marks, Rc<Marks>>>,
    next_id: Cell<u32>,
    is_crowded: Cell<bool>,
    pub(super) series: RefCell<SeriesCache>,
    spare_chunks: RefCell<Vec<Chunk>>,
    spare_args: Cell<Option<Args>>,
}

/// A database: where, and the network to it.
pub(super) struct Place {
    pub(super) driver: Driver,
    dsn: Box<str>,
    pub(super) config: Rc<Config>,
    network: OnceCell<Option<Rc<Network>>>,
}

/// The words of a script about the samples of a database: its name, a name in place of statements, tags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Marks {
    pub(super) db: Rc<str>,
    pub(super) name: Option<String>,
    pub(super) tags: Vec<(String, String)>,
    /// Its number on this core.
    pub(super) id: u32,
}

/// A statement as its tag shows it.
pub(super) struct Label {
    pub(super) id: u32,
    pub(super) text: Box<str>,
}

/// A statement of a script.
pub(super) struct Statement {
    pub(super) text: Box<str>,
    pub(super) label: Rc<Label>,
    /// The form with placeholders for the names that were used last.
    named: RefCell<Option<Rc<Named>>>,
}

/// A statement with placeholders in place of names.
pub(super) struct Named {
    pub(super) names: Vec<String>,
    pub(super) sql: String,
    /// By argument: the place of its name.
    pub(super) order: Vec<usize>,
}

impl Statement {
    /// Whether it may have names: a colon or an @ before a letter that is no part of something else.
    pub(super) fn may_have_names(&self) -> bool {
        let bytes = self.text.as_bytes();
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        (0..bytes.len()).any(|at| {
            let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
            matches!(bytes[at], b':' | b'@')
                && bytes.get(at + 1).is_some_and(|next| is_letter(*next))
                && !before.is_ascii_alphanumeric()
                && !matches!(before, b':' | b'@' | b'_' | b']')
        })
    }

    /// The statement with the placeholders of its database in place of these names.
    ///
    /// # Errors
    /// Names and parameters are not the same.
    pub(super) fn named(&self, driver: Driver, names: Vec<String>) -> Result<Rc<Named>, Failure> {
        if let Some(known) = self.named.borrow().as_ref().filter(|known| known.names == names) {
            return Ok(Rc::clone(known));
        }
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let statement::Named { sql, order } = statement::named(&self.text, driver, &all)?;
        let named = Rc::new(Named { names, sql, order });
        *self.named.borrow_mut() = Some(Rc::clone(&named));
        Ok(named)
    }
}

impl CoreSlot for SqlCore {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self {
            places: RefCell::default(),
            pools: RefCell::default(),
            statements: RefCell::default(),
            labels: RefCell::default(),
            marks: RefCell::default(),
            next_id: Cell::new(1),
            is_crowded: Cell::new(false),
            series: RefCell::default(),
            spare_chunks: RefCell::default(),
            spare_args: Cell::default(),
        }
    }
}

impl Place {
    /// The network to it; `None` if it dials no server.
    ///
    /// # Errors
    /// Certificates or keys of the DSN that cannot be used.
    pub(super) fn network(&self, host: &Host) -> Result<Option<Rc<Network>>, Failure> {
        if let Some(network) = self.network.get() {
            return Ok(network.clone());
        }
        let state = host.slot::<VuState>();
        let settings = self.config.network(&state.shared.config().network.net);
        let network = settings.map(|settings| Network::new(settings, clock::now_ns)).transpose();
        let network = network.map_err(|why| {
            Failure::new(brunt_sql::Trouble::Config, format!("the DSN's TLS: {why}"))
        })?;
        Ok(self.network.get_or_init(|| network).clone())
    }
}

impl SqlCore {
    fn new_id(&self) -> u32 {
        let id = self.next_id.get();
        self.next_id.set(id.wrapping_add(1));
        id
    }

    /// The database of a DSN.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub(super) fn place(
        &self,
        driver: Driver,
        dsn: &str,
        outside: &dyn brunt_sql::config::Outside,
    ) -> Result<Rc<Place>, Failure> {
        let is_it = |place: &&Rc<Place>| place.driver == driver && *place.dsn == *dsn;
        if let Some(place) = self.places.borrow().iter().find(is_it) {
            return Ok(Rc::clone(place));
        }
        let config = Rc::new(Config::read(driver, dsn, outside)?);
        let place = Rc::new(Place { driver, dsn: dsn.into(), config, network: OnceCell::new() });
        let mut places = self.places.borrow_mut();
        if places.len() >= PLACES_MAX {
            places.clear();
        }
        places.push(Rc::clone(&place));
        Ok(place)
    }

    /// The pool that all VUs of the core share; made at the first call.
    pub(super) fn shared_pool(
        &self,
        place: &Rc<Place>,
        options: PoolOptions,
        make: impl FnOnce() -> Result<Rc<Pool>, Failure>,
    ) -> Result<Rc<Pool>, Failure> {
        let mut pools = self.pools.borrow_mut();
        pools.retain(|(_, _, pool)| pool.strong_count() > 0);
        let is_it = |(known, limits, _): &&(Rc<Place>, PoolOptions, Weak<Pool>)| {
            Rc::ptr_eq(known, place) && *limits == options
        };
        if let Some(pool) = pools.iter().find(is_it).and_then(|(_, _, pool)| pool.upgrade()) {
            return Ok(pool);
        }
        let pool = make()?;
        pools.push((Rc::clone(place), options, Rc::downgrade(&pool)));
        Ok(pool)
    }

    /// A statement by its text.
    pub(super) fn statement(&self, driver: Driver, text: &str) -> Rc<Statement> {
        if let Some(known) = self.statements.borrow()[driver as usize].get(text) {
            return Rc::clone(known);
        }
        let label = self.label(&folded(text, driver));
        let statement = Rc::new(Statement { text: text.into(), label, named: RefCell::default() });
        if text.len() <= TEXT_MAX {
            let statements = &mut self.statements.borrow_mut()[driver as usize];
            if statements.len() >= STATEMENTS_MAX {
                statements.clear();
            }
            statements.insert(text.into(), Rc::clone(&statement));
        }
        statement
    }

    /// The label of a folded statement.
    pub(super) fn label(&self, folded: &str) -> Rc<Label> {
        let mut labels = self.labels.borrow_mut();
        if let Some(known) = labels.get(folded) {
            return Rc::clone(known);
        }
        let text = if labels.len() < LABELS_MAX || folded == OTHER {
            folded
        } else {
            if !self.is_crowded.replace(true) {
                log::warn!(
                    "more than {LABELS_MAX} different SQL statements on a core: the tag statement of further ones is \"{OTHER}\"; \
                     pass values as arguments instead of writing them into the text"
                );
            }
            drop(labels);
            return self.label(OTHER);
        };
        let label = Rc::new(Label { id: self.new_id(), text: text.into() });
        labels.insert(text.into(), Rc::clone(&label));
        label
    }

    /// The same marks as one object.
    pub(super) fn marks(&self, marks: Marks) -> Rc<Marks> {
        let key = Marks { id: 0, ..marks };
        let mut known = self.marks.borrow_mut();
        if let Some(known) = known.get(&key) {
            return Rc::clone(known);
        }
        if known.len() >= MARKS_MAX {
            known.clear();
        }
        let marks = Rc::new(Marks { id: self.new_id(), ..key.clone() });
        known.insert(key, Rc::clone(&marks));
        marks
    }

    /// A chunk that was used before, or a new one.
    pub(super) fn chunk(&self) -> Chunk {
        self.spare_chunks.borrow_mut().pop().unwrap_or_default()
    }

    /// A chunk is not needed any more.
    pub(super) fn keep_chunk(&self, chunk: Chunk) {
        /// Enough for the calls of a core that are under way.
        const KEPT: usize = 16;
        let mut spare = self.spare_chunks.borrow_mut();
        if spare.len() < KEPT {
            spare.push(chunk);
        }
    }

    /// Room for arguments, empty.
    pub(super) fn args(&self) -> Args {
        self.spare_args.take().unwrap_or_default()
    }

    /// Arguments are not needed any more.
    pub(super) fn keep_args(&self, mut args: Args) {
        /// More bytes than arguments of a statement mostly have.
        const KEPT: usize = 1 << 20;
        if args.byte_count() <= KEPT && args.len() <= KEPT / 16 {
            args.clear();
            self.spare_args.set(Some(args));
        }
    }
}
