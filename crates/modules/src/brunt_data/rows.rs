//! `rows()`: rows that all VUs of a test share, and `next()`, which gives one out.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock, OnceLock};

use brunt_js::{Host, Phase};
use brunt_leases::Rows as LeasedRows;
use brunt_quickjs::{Call, Class, CommonWeight, Ctx, JsResult, Members, Value};
use brunt_schedule::Segment;

use super::feed::{Feed, Next, Share, Strategy};
use super::names::{Named, read_name, same};
use super::options::Options;
use super::share::{is_leader, others, waited};
use crate::execution::abort_test;
use crate::shared::Shared;
use crate::shared_array::{Elements, elements_of, first_elements};
use crate::state::VuState;
use crate::throwing::{not_in_init, throw, throw_type};

/// The rows of a name, once in each process.
#[derive(Debug)]
struct RowSet {
    name: String,
    elements: Arc<Elements>,
    asked: Asked,
    /// The share of this process, known as soon as the options of the test are.
    here: OnceLock<Here>,
}

#[derive(Debug)]
struct Here {
    feed: Feed,
    /// This process is a leader, whose agents have the rows.
    is_elsewhere: bool,
    /// Of a shuffled order.
    _weight: CommonWeight,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Asked {
    strategy: Strategy,
    share: Share,
    when_empty: WhenEmpty,
}

/// The answer of `next()` when no row is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhenEmpty {
    /// The end of the test, with an error that says so.
    Stop,
    /// `null`.
    Null,
    /// An exception: the end of the iteration, unless the script catches it.
    Throw,
}

impl WhenEmpty {
    const WORDS: &[(&str, Self)] =
        &[("stop", Self::Stop), ("null", Self::Null), ("throw", Self::Throw)];
}

/// The object of a VU.
struct Rows(Arc<RowSet>);

impl Class for Rows {
    const NAME: &'static CStr = c"Rows";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"next", 0, next)
                .getter(c"length", |call| {
                    Ok(call.ctx().number(row_set(&call)?.elements.len().into()))
                })
                .getter(c"taken", |call| {
                    let taken = row_set(&call)?.here.get().map_or(0, |here| here.feed.taken());
                    Ok(call.ctx().number(taken as f64))
                })
                .getter(c"name", |call| call.ctx().string(&row_set(&call)?.name))
        });
        &MEMBERS
    }
}

/// `rows(name, source, { strategy, share, whenEmpty })`.
pub(super) fn rows<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, kind) = (call.ctx(), "rows");
    let name = read_name(ctx, kind, &call.argument(0))?;
    let whose = format!("{kind} \"{name}\"");
    let known = ["strategy", "share", "whenEmpty"];
    let options = Options::read(ctx, whose, &call.argument(2), &known)?;
    let asked = Asked {
        strategy: options.word("strategy", Strategy::WORDS)?,
        share: options.word("share", Share::WORDS)?,
        when_empty: options.word("whenEmpty", WhenEmpty::WORDS)?,
    };
    if asked.share == Share::Leased && !asked.strategy.ends() {
        let why = format!(
            "rows \"{name}\": share \"leased\" is for rows that are used once: it goes with the strategies \"queue\" and \"shuffle\""
        );
        return Err(throw_type(ctx, &why));
    }
    if options.has("whenEmpty")? && !asked.strategy.ends() {
        let why = format!(
            "rows \"{name}\": whenEmpty is for rows that are used once, by the strategies \"queue\" and \"shuffle\": others have no end"
        );
        return Err(throw_type(ctx, &why));
    }
    let shared = &VuState::of(ctx).shared;
    let set = shared.slot::<Named<RowSet>>().find_or_make(ctx, kind, &name, || {
        let elements = read_source(ctx, &name, &call.argument(1))?;
        Ok(RowSet { name: name.clone(), elements, asked, here: OnceLock::new() })
    })?;
    same(ctx, kind, &name, [&set.asked, &asked])?;
    if shared.known_config().is_some() {
        set.here(ctx, shared)?;
    }
    ctx.instance(Rows(set))
}

/// The elements of a source, read by the first VM that asks.
fn read_source<'js>(
    ctx: Ctx<'js>,
    name: &str,
    source: &Value<'js>,
) -> JsResult<'js, Arc<Elements>> {
    let wrong = |why: &str| throw_type(ctx, &format!("rows \"{name}\": {why}"));
    let elements = if let Some(elements) = elements_of(source) {
        elements
    } else if source.is_async_function() {
        return Err(wrong("the function must not be async: give what it resolves to, with await"));
    } else if source.is_promise() {
        return Err(wrong("a promise is no source of rows: put await before it"));
    } else if source.is_function() {
        let why = format!("rows \"{name}\": the function must return an array");
        Arc::new(first_elements(ctx, source, &why)?)
    } else if source.is_array() {
        Arc::new(Elements::encode(ctx, source)?)
    } else {
        return Err(wrong(
            "the second argument gives the rows: a function that returns an array, an array, a SharedArray, or what \
             `await csv.parse()` resolves to",
        ));
    };
    if elements.len() == 0 {
        return Err(wrong("there are no rows: the array is empty"));
    }
    if let Some(index) = (0..elements.len()).find(|index| elements.is_undefined(*index)) {
        return Err(wrong(&format!("row {index} (counted from 0) is undefined")));
    }
    Ok(elements)
}

impl RowSet {
    /// The share of this process.
    ///
    /// # Errors
    /// They can't be shared as the script asks; there is no memory.
    fn here<'js>(&self, ctx: Ctx<'js>, shared: &Shared) -> JsResult<'js, &Here> {
        if let Some(here) = self.here.get() {
            return Ok(here);
        }
        let Asked { strategy, share, .. } = self.asked;
        let (name, total) = (&self.name, self.elements.len());
        let config = shared.config();
        let full = Segment::full();
        let segment = if share == Share::Striped { &config.segment } else { &full };
        if segment.scale(total.into()) == 0 && !strategy.ends() {
            let why = format!(
                "rows \"{name}\": there are {total}, and the segment {segment} has none of them: give it more rows, or \
                 {{ share: 'instance' }} for all of them in each process"
            );
            return Err(throw(ctx, &why));
        }
        let mut weight = CommonWeight::default();
        weight.grow(ctx, Feed::weight(strategy, total))?;
        let mut feed = Feed::new(strategy, segment, total, shared.world.seed, name);
        if share == Share::Leased {
            feed = feed.leased(match (&config.leases, others(shared)) {
                (Some(leases), _) => leases.rows(name, total.into()),
                (None, None) => LeasedRows::alone(total.into()),
                (None, Some(why)) => {
                    let why = format!(
                        "rows \"{name}\": {why}, and no leader deals out rows to all processes: share \"leased\" needs one; \"striped\" \
                         gives each process rows of its own without it"
                    );
                    return Err(throw(ctx, &why));
                }
            });
        }
        let is_elsewhere = share == Share::Striped && strategy.ends() && is_leader(shared);
        // Of two VMs that do this at once, the first is believed.
        Ok(self.here.get_or_init(|| Here { feed, is_elsewhere, _weight: weight }))
    }

    /// The message about the end of the rows.
    fn end(&self, feed: &Feed) -> String {
        let (name, total, here) = (&self.name, self.elements.len(), feed.count());
        let of_all = match self.asked.share {
            Share::Striped if here < u64::from(total) => {
                format!("all {here} rows of this process's segment (of {total})")
            }
            Share::Leased => format!("all {total} rows of the test"),
            _ => format!("all {total} rows"),
        };
        format!(
            "rows \"{name}\" are used up: {of_all} have been given out; give the test more rows, the strategy \"circular\", or another \
             whenEmpty"
        )
    }
}

fn row_set<'js>(call: &Call<'js>) -> JsResult<'js, Arc<RowSet>> {
    match call.this().instance::<Rows>() {
        Some(Rows(set)) => Ok(Arc::clone(set)),
        None => Err(throw_type(call.ctx(), "these are no rows of brunt/data")),
    }
}

/// `next()`: the next row, frozen.
fn next<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    not_in_init(ctx, "next() of rows")?;
    let Some(Rows(set)) = this.instance::<Rows>() else {
        return Err(throw_type(ctx, "these are no rows of brunt/data"));
    };
    let here = match set.here.get() {
        Some(here) => here,
        None => set.here(ctx, &VuState::of(ctx).shared)?,
    };
    if here.is_elsewhere {
        let why = format!(
            "rows \"{}\": each agent has its share of these rows; handleSummary() runs in the leader, which has none. Rows with {{ share: 'leased' }} are there for the leader too",
            set.name
        );
        return Err(throw(ctx, &why));
    }
    let feed = &here.feed;
    let index = loop {
        match feed.next(|| VuState::drawn(ctx)) {
            Next::Row(index) => break index,
            Next::None => {
                return match set.asked.when_empty {
                    WhenEmpty::Null => Ok(ctx.null()),
                    WhenEmpty::Throw => Err(throw(ctx, &set.end(feed))),
                    // The test is over: there is nothing to stop.
                    WhenEmpty::Stop if Host::of(ctx).phase() == Phase::Summary => {
                        Err(throw(ctx, &set.end(feed)))
                    }
                    WhenEmpty::Stop => Err(abort_test(ctx, &set.end(feed))),
                };
            }
            Next::Later(leased, answers) => {
                let whose = || format!("rows \"{}\": no row can be had now", set.name);
                waited(ctx, leased.answered(answers), whose)?;
            }
        }
    };
    Ok(set.elements.read(ctx, index)?.unwrap_or_else(|| ctx.undefined()))
}
