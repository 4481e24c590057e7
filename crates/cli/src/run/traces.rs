//! `--traces-output`: each iteration and each HTTP request as a span.
//!
//! Requests are told by the script world ([`Watcher`]), iterations by a runner around the runner; the iteration of a
//! request follows from the numbers of both, so that no table is kept.
//! Without the flag it costs a look at an `Option` for each iteration.

use std::{future::Future, rc::Rc, sync::Arc};

use brunt_engine::{Core, Ended, Iteration, RunError, Runner, ScenarioHere, StopHandle, Vu, VuIds};
use brunt_fiber::clock;
use brunt_metrics::{Metadata, Recorder, TagsId};
use brunt_modules::watch::{Place, Seen, Talk, Watcher};
use brunt_outputs::{Span, SpanValue, TraceTarget, Traces, TracesEnd};

use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    secrets,
};

/// Makes spans.
#[derive(Debug)]
pub(crate) struct Spans {
    traces: Traces,
    /// Tells this run from all others.
    seed: u64,
}

/// Starts to send spans.
///
/// # Errors
/// The system gives no thread; its certificates can't be read (255).
pub(crate) fn start(target: &TraceTarget) -> Outcome<(Arc<Spans>, TracesEnd)> {
    let (traces, end) = Traces::start(target).map_err(|error| {
        Failure::new(Exit::Other, anyhow::Error::msg(error)).hint("see --traces-output")
    })?;
    Ok((Arc::new(Spans { traces, seed: fastrand::u64(..) }), end))
}

/// Waits until all spans are sent, and tells what was lost.
pub(crate) fn finish((spans, end): (Arc<Spans>, TracesEnd)) {
    let (lost, trouble) = end.wait();
    let lost = lost + spans.traces.dropped();
    if lost > 0 {
        let why = trouble.unwrap_or_else(|| "the collector was too slow".to_owned());
        log::error!(output = "traces"; "{lost} spans did not arrive and are lost: {why}");
    }
}

impl Spans {
    /// The trace of an iteration, and its own span. `None` is `setup()` and its like.
    fn root(&self, vu: u64, iteration: Option<u64>) -> (u128, u64) {
        let iteration = iteration.map_or(0, |iteration| iteration + 1);
        let high = mix(self.seed ^ mix(vu));
        let low = mix(high ^ mix(iteration));
        // An id of zeros means none.
        (u128::from(high) << 64 | u128::from(low), mix(low) | 1)
    }

    fn iteration(&self, vu: u64, iteration: Iteration, scenario: &str, ended: Ended) {
        let (trace, id) = self.root(vu, Some(iteration.vu_in_instance));
        self.traces.offer(Span {
            trace,
            id,
            parent: 0,
            name: "iteration".to_owned(),
            is_client: false,
            start: iteration.started,
            end: clock::now_ns(),
            attributes: place(vu, Some(iteration.vu_in_instance), scenario, ""),
            error: (ended != Ended::Complete).then(|| "interrupted".to_owned()),
        });
    }
}

/// Spreads the bits of a number (splitmix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn place(
    vu: u64,
    iteration: Option<u64>,
    scenario: &str,
    group: &str,
) -> Vec<(&'static str, SpanValue)> {
    let number = |number: u64| SpanValue::Number(i64::try_from(number).unwrap_or(i64::MAX));
    let mut attributes = vec![("k6.vu", number(vu))];
    attributes.extend(iteration.map(|iteration| ("k6.iteration", number(iteration))));
    for (key, value) in [("k6.scenario", scenario), ("k6.group", group)] {
        if !value.is_empty() {
            attributes.push((key, SpanValue::Text(shown(value))));
        }
    }
    attributes
}

/// A text without secrets.
fn shown(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(redactor) = secrets::redactor() {
        secrets::redact(redactor, &mut text);
    }
    text
}

/// The trace and the span that a header `traceparent` names.
fn traceparent(text: &str) -> Option<(u128, u64)> {
    let mut parts = text.trim().split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    if version.len() != 2 || trace.len() != 32 || span.len() != 16 {
        return None;
    }
    let trace = u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?;
    let span = u64::from_str_radix(span, 16).ok().filter(|span| *span != 0)?;
    Some((trace, span))
}

impl Watcher for Spans {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        let (trace, root) = self.root(vu.vu, vu.iteration);
        let parent = if vu.iteration.is_some() { root } else { 0 };
        // The server's own spans hang on the `traceparent` that the script sends.
        let (trace, id, parent) = match seen.request_header("traceparent").and_then(traceparent) {
            Some((other, id)) => (other, id, if other == trace { parent } else { 0 }),
            None => (trace, fastrand::u64(1..), parent),
        };
        let (start, end) = seen.moments();
        let mut attributes = place(vu.vu, vu.iteration, vu.scenario, vu.group);
        attributes.push(("http.request.method", SpanValue::Text(seen.method().to_owned())));
        attributes.push(("url.full", SpanValue::Text(shown(seen.url))));
        if let Some(remote) = seen.remote() {
            attributes.push(("network.peer.address", SpanValue::Text(remote.ip().to_string())));
            attributes.push(("network.peer.port", SpanValue::Number(remote.port().into())));
        }
        let status = seen.response().map(|response| response.status());
        if let Some(status) = status {
            attributes.push(("http.response.status_code", SpanValue::Number(status.into())));
        }
        let error = match status {
            Some(400..) => Some(String::new()),
            Some(_) => None,
            None => Some(seen.failure().map_or_else(String::new, |failure| shown(&failure))),
        };
        let name = seen.method().to_owned();
        self.traces.offer(Span {
            trace,
            id,
            parent,
            name,
            is_client: true,
            start,
            end,
            attributes,
            error,
        });
    }

    fn check(&self, _: &Place<'_>, _: &str, _: bool) {}
}

/// The watcher, and the spans if there are any.
pub(crate) fn and(
    watcher: Option<Arc<dyn Watcher>>,
    spans: Option<&Arc<Spans>>,
) -> Option<Arc<dyn Watcher>> {
    both(watcher, spans.map(|spans| Arc::clone(spans) as Arc<dyn Watcher>))
}

/// Two who look on, as far as there are two.
pub(crate) fn both(
    one: Option<Arc<dyn Watcher>>,
    other: Option<Arc<dyn Watcher>>,
) -> Option<Arc<dyn Watcher>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Arc::new(Both(one, other))),
        (one, other) => one.or(other),
    }
}

/// Two who look on.
#[derive(Debug)]
struct Both(Arc<dyn Watcher>, Arc<dyn Watcher>);

impl Watcher for Both {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        self.0.exchange(vu, seen);
        self.1.exchange(vu, seen);
    }

    fn sees_all(&self) -> bool {
        self.0.sees_all() || self.1.sees_all()
    }

    fn talk(&self, vu: &Place<'_>, talk: &Talk<'_>) {
        self.0.talk(vu, talk);
        self.1.talk(vu, talk);
    }

    fn check(&self, vu: &Place<'_>, name: &str, passed: bool) {
        self.0.check(vu, name, passed);
        self.1.check(vu, name, passed);
    }
}

/// A runner whose iterations are spans, if somebody wants them.
pub(crate) struct Traced<R> {
    pub(crate) runner: Arc<R>,
    pub(crate) spans: Option<Arc<Spans>>,
}

/// One of its VUs.
pub(crate) struct TracedVu<V> {
    vu: V,
    spans: Option<Arc<Spans>>,
    number: u64,
    scenario: Option<Rc<ScenarioHere>>,
}

impl<R: Runner> Runner for Traced<R> {
    type Vu = TracedVu<R::Vu>;

    async fn create(&self, core: &Rc<Core>, ids: VuIds) -> Result<Self::Vu, RunError> {
        let vu = self.runner.create(core, ids).await?;
        Ok(TracedVu { vu, spans: self.spans.clone(), number: ids.global, scenario: None })
    }

    fn setup(
        &self,
        core: &Rc<Core>,
        stop: &StopHandle,
    ) -> impl Future<Output = Result<Option<String>, RunError>> {
        self.runner.setup(core, stop)
    }

    fn teardown(
        &self,
        core: &Rc<Core>,
        data: Option<&str>,
        stop: &StopHandle,
    ) -> impl Future<Output = Result<(), RunError>> {
        self.runner.teardown(core, data, stop)
    }

    fn set_setup_data(&self, data: Option<Arc<str>>) {
        self.runner.set_setup_data(data);
    }
}

impl<V: Vu> Vu for TracedVu<V> {
    fn activate(&mut self, scenario: &Rc<ScenarioHere>) {
        if self.spans.is_some() {
            self.scenario = Some(Rc::clone(scenario));
        }
        self.vu.activate(scenario);
    }

    async fn iterate(&mut self, iteration: Iteration, stop: &StopHandle) -> Ended {
        let ended = self.vu.iterate(iteration, stop).await;
        if let Some(spans) = &self.spans {
            let scenario = self.scenario.as_ref().map_or("", |here| &here.spec().name);
            spans.iteration(self.number, iteration, scenario, ended);
        }
        ended
    }

    fn tags(&mut self, recorder: &mut Recorder) -> TagsId {
        self.vu.tags(recorder)
    }

    fn metadata(&self) -> Option<Metadata> {
        self.vu.metadata()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_names_a_trace_and_a_span() {
        let whole = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c;
        assert_eq!(traceparent(whole), Some((trace, 0xb7ad_6b71_6920_3331)));
        let zeros = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        for text in ["", "00", "00-1-2-3", &zeros, &whole.replace('a', "x")] {
            assert_eq!(traceparent(text), None, "{text}");
        }
    }

    #[test]
    fn iterations_have_traces_of_their_own() {
        let target = TraceTarget::parse("otel=http://127.0.0.1:9").unwrap().unwrap();
        let (spans, end) = start(&target).unwrap();
        let roots = [(1, None), (1, Some(0)), (1, Some(1)), (2, Some(0)), (2, Some(1))];
        let seen: std::collections::BTreeSet<_> =
            roots.iter().map(|(vu, iteration)| spans.root(*vu, *iteration)).collect();
        assert_eq!(seen.len(), roots.len());
        assert_eq!(spans.root(1, Some(1)), spans.root(1, Some(1)));
        finish((spans, end));
    }
}
