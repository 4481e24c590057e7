//! `http.batch`: many requests at once, within `batch` and `batchPerHost`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use brunt_fiber::block_on;
use brunt_http::Target;
use brunt_js::Host;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Ctx, JsResult, Name, Value, Weight};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;

use super::answering;
use super::download::{self, Arrived};
use super::kinds::kind_of;
use super::prepared::{Asked, Prepared, Refusal, Unsendable, method_of};
use super::response::{self, Response};
use super::sending::wait_for;
use super::state::http_for;
use super::transfer::{self, Finished, Sink};
use super::url::UrlTemplate;
use crate::go_error::go_type;
use crate::go_text;
use crate::state::VuState;
use crate::throwing::{throw, throw_stopped};

static METHOD: Name = Name::new("method");
static URL: Name = Name::new("url");
static BODY: Name = Name::new("body");
static PARAMS: Name = Name::new("params");
static LENGTH: Name = Name::new("length");

/// Operations that a request counts as, before and after it is sent.
const COST_OF_REQUEST: i32 = 100;
/// Bytes of a request that waits, about.
const MEMORY_OF_REQUEST: usize = 4096;

/// No limit, as far as a semaphore is concerned.
const UNLIMITED: usize = 1 << 20;

pub(super) fn batch(call: Call<'_>) -> JsResult<'_> {
    let ctx = call.ctx();
    let (host, http) = http_for(ctx, "Using batch")?;
    if call.len() != 1 {
        return Err(throw(
            ctx,
            if call.is_empty() {
                "no argument was provided to http.batch()"
            } else {
                "http.batch() accepts only an array or an object of requests"
            },
        ));
    }
    let list = call.argument(0);
    let is_array = list.is_array();
    if !is_array && (!list.is_object() || list.is_function()) {
        let kind = go_type(&list);
        return Err(throw(ctx, &format!("invalid http.batch() argument type {kind}")));
    }
    let result = if is_array { ctx.array()? } else { ctx.object()? };
    let keys = list.keys()?;
    let mut requests = Vec::new();
    // Until the responses are there, which weigh more.
    let weight = Weight::default();
    for key in &keys {
        ctx.poll(COST_OF_REQUEST)?;
        weight.add(ctx, MEMORY_OF_REQUEST)?;
        let entry = list.get(key)?;
        let request = read_entry(ctx, key, &entry)
            .and_then(|asked| Prepared::read(ctx, http, asked, kind_of))
            .and_then(Prepared::with_valid_url);
        match request {
            Ok(mut request) => {
                request.take_cookies();
                weight.add(ctx, request.waits_with())?;
                requests.push(request);
            }
            Err(Refusal::Thrown(thrown)) => return Err(thrown),
            Err(Refusal::Unsendable(refused)) => {
                // One bad entry, and nothing is sent: the responses up to it are empty ones.
                return refuse(ctx, &result, &keys, requests.len(), &refused);
            }
        }
    }
    let state = VuState::of(ctx);
    let config = state.shared.config();
    let total = Rc::new(Semaphore::new(if config.batch == 0 { UNLIMITED } else { config.batch }));
    let mut per_host: HashMap<String, Rc<Semaphore>> = HashMap::new();
    let needs_script = requests.iter().any(|request| request.feed.is_some());
    let running = FuturesUnordered::new();
    for (index, mut request) in requests.into_iter().enumerate() {
        let limit = if config.batch_per_host == 0 { UNLIMITED } else { config.batch_per_host };
        let place = Target::parse(&request.url)
            .map(|target| format!("{}:{}", target.host, target.port))
            .unwrap_or_default();
        let gate =
            Rc::clone(per_host.entry(place).or_insert_with(|| Rc::new(Semaphore::new(limit))));
        let sink = Sink::of(host, state, http);
        let (total, client) = (Rc::clone(&total), Rc::clone(&http.client));
        let streamed = request.download.is_some();
        request.together = true;
        // Not sent before its turn, so it is on no list of the VU's until then; but it ends with the iteration.
        if let Some(download) = &request.download {
            http.keep_track_of(download);
        }
        running.push(async move {
            let _here = gate.acquire().await;
            let _all = total.acquire().await;
            if streamed {
                // Its head has come; the rest counts no more, since it is not read before this returns.
                return (index, Came::Head(download::begin(client, request, sink).await));
            }
            let ended = transfer::run(&client, &mut request, &sink).await;
            (index, Came::Whole(Finished::new(request, ended)))
        });
    }
    let count = running.len();
    let all = running.collect::<Vec<(usize, Came)>>();
    let finished =
        if needs_script { while_script_runs(ctx, host, all)? } else { block_on(all).ok() };
    let Some(finished) = finished else { return Err(throw_stopped(ctx)) };
    let mut ordered: Vec<Option<Came>> = (0..count).map(|_| None).collect();
    for (index, came) in finished {
        ordered[index] = Some(came);
    }
    let mut failed = None;
    drop(weight);
    for (key, came) in keys.iter().zip(ordered.into_iter().flatten()) {
        ctx.poll(COST_OF_REQUEST)?;
        let response = match came {
            Came::Whole(finished) => {
                if finished.throw && failed.is_none() {
                    failed.clone_from(&finished.thrown);
                }
                response::new(ctx, Response::of(finished))?
            }
            Came::Head(arrived) => answering::arrived(ctx, arrived)?,
        };
        result.define(key, response)?;
    }
    match failed {
        Some(error) => Err(throw(ctx, &error)),
        None => Ok(result),
    }
}

/// The outcome of one of them.
enum Came {
    Whole(Box<Finished>),
    /// The body is streamed.
    Head(Arrived),
}

/// Waits for what needs the VU's event loop to go on: bodies that scripts make meanwhile. `None` if the VU was stopped.
fn while_script_runs<'js, T: 'static>(
    ctx: Ctx<'js>,
    host: &Host,
    operation: impl Future<Output = T> + 'static,
) -> JsResult<'js, Option<T>> {
    let (promise, deferred) = ctx.promise()?;
    let output = Rc::new(RefCell::new(None));
    let out = Rc::clone(&output);
    host.events().spawn(operation, move |ctx, done| {
        *out.borrow_mut() = Some(done);
        ctx.settle(deferred, Ok(ctx.undefined()))
    });
    wait_for(ctx, host, &promise)?;
    Ok(output.take())
}

fn refuse<'js>(
    ctx: Ctx<'js>,
    result: &Value<'js>,
    keys: &[Key<'js>],
    last: usize,
    refused: &Unsendable,
) -> JsResult<'js> {
    if refused.throw {
        return Err(throw(ctx, &refused.text));
    }
    log::warn!(error = refused.text.as_str(); "A batch request failed");
    for (index, key) in keys.iter().enumerate().take(last + 1) {
        let response = if index == last {
            Response::unsent(&refused.text, refused.code)
        } else {
            Response::unsent("", 0)
        };
        result.define(key, response::new(ctx, response)?)?;
    }
    if result.is_array() {
        // As long as what was asked for; what is missing is undefined.
        result.set(&LENGTH, ctx.number(keys.len() as f64))?;
    }
    Ok(result.clone())
}

fn unsendable(text: String) -> Refusal {
    Refusal::Unsendable(Unsendable { code: 0, text, throw: false })
}

/// A method must be text here.
fn method_in(method: &Value<'_>) -> Result<Cow<'static, str>, Refusal> {
    if method.is_string() {
        return Ok(method_of(method)?);
    }
    Err(unsendable(format!("invalid method type '{}'", go_text::syntax(method))))
}

/// A URL, `[method, url, body?, params?]`, or `{ method, url, body, params }`.
fn read_entry<'js>(
    ctx: Ctx<'js>,
    key: &Key<'js>,
    entry: &Value<'js>,
) -> Result<Asked<'js>, Refusal> {
    let undefined = || ctx.undefined();
    if entry.is_array() {
        if entry.length()? < 2 {
            let text = format!("invalid batch request '{}'", go_text::syntax(entry));
            return Err(unsendable(text));
        }
        return Ok(Asked {
            method: method_in(&entry.get_index(0)?)?,
            url: entry.get_index(1)?,
            body: entry.get_index(2)?,
            params: entry.get_index(3)?,
        });
    }
    if entry.is_string() || entry.instance::<UrlTemplate>().is_some() {
        return Ok(Asked {
            method: "GET".into(),
            url: entry.clone(),
            body: undefined(),
            params: undefined(),
        });
    }
    if !entry.is_object() {
        return Ok(Asked {
            method: "GET".into(),
            url: entry.clone(),
            body: undefined(),
            params: undefined(),
        });
    }
    let url = entry.get(&URL)?;
    if url.is_nullish() {
        let text =
            format!("batch request {} doesn't have a url key", key.text().unwrap_or_default());
        return Err(unsendable(text));
    }
    let method = if entry.has(&METHOD)? { method_in(&entry.get(&METHOD)?)? } else { "GET".into() };
    let method = method.to_uppercase();
    let body =
        if matches!(method.as_str(), "GET" | "HEAD") { undefined() } else { entry.get(&BODY)? };
    Ok(Asked { method: Cow::Owned(method), url, body, params: entry.get(&PARAMS)? })
}
