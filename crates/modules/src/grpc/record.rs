//! The samples of calls.

use std::rc::Rc;

use brunt_grpc::Method;
use brunt_js::{Host, Phase};
use brunt_metrics::{Contains, Kind, MetricId, Recorder, TagsId, builtin};
use brunt_quickjs::{Ctx, JsResult};

use crate::state::{Tags, VuState};
use crate::throwing::throw;

/// The metrics of the module.
#[derive(Clone, Copy)]
pub(super) struct Metrics {
    pub(super) duration: MetricId,
    pub(super) streams: MetricId,
    pub(super) sent: MetricId,
    pub(super) received: MetricId,
}

impl Metrics {
    /// Makes or finds them.
    pub(super) fn of(ctx: Ctx<'_>) -> JsResult<'_, Self> {
        let registry = &VuState::of(ctx).shared.world.registry;
        let register = |name, kind, contains| {
            registry.register(name, kind, contains).map_err(|error| throw(ctx, &error.to_string()))
        };
        let count = |name| register(name, Kind::Counter, Contains::Default);
        Ok(Self {
            duration: builtin::GRPC_REQ_DURATION,
            streams: count("grpc_streams")?,
            sent: count("grpc_streams_msgs_sent")?,
            received: count("grpc_streams_msgs_received")?,
        })
    }
}

/// The tags of the samples of one call.
pub(super) struct Labels {
    /// The VU's tags when the call was made.
    pub(super) base: Rc<Tags>,
    /// The name of the call, for calls that a script makes: its URL without a scheme, and path, service and method.
    pub(super) named: Option<Named>,
    /// The tags of the script.
    pub(super) own: Vec<(String, String)>,
}

/// Tags that a method has.
pub(super) struct Named {
    pub(super) url: String,
    pub(super) method: std::sync::Arc<Method>,
}

impl Labels {
    /// The labels of a call that the module makes by itself.
    pub(super) fn unnamed(ctx: Ctx<'_>) -> Self {
        Self { base: VuState::of(ctx).tags(), named: None, own: Vec::new() }
    }

    fn id(&self, state: &VuState, recorder: &mut Recorder, status: Option<u32>) -> TagsId {
        let on = &state.shared.config().system_tags;
        let base = self.base.id(recorder);
        let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(8);
        let service;
        if let Some(Named { url, method }) = &self.named {
            service = &method.path[1..method.path.len() - method.name.len() - 1];
            for (is_on, name, value) in [
                (on.url, "url", url.as_str()),
                (on.name, "name", method.path.as_str()),
                (on.service, "service", service),
                (on.method, "method", method.name.as_str()),
            ] {
                if is_on {
                    pairs.push((name, value));
                }
            }
        }
        let code;
        if let Some(status) = status.filter(|_| on.status) {
            code = status.to_string();
            pairs.push(("status", &code));
        }
        for (name, value) in &self.own {
            pairs.retain(|pair| pair.0 != name);
            pairs.push((name.as_str(), value.as_str()));
        }
        recorder.tags_with(base, &pairs)
    }

    /// Records a sample of `metric`, as it was at `at` (unix ns).
    pub(super) fn add(
        &self,
        ctx: Ctx<'_>,
        metric: MetricId,
        value: f64,
        at: u64,
        status: Option<u32>,
    ) {
        let host = Host::of(ctx);
        let Some(core) = host.core() else { return };
        if host.phase() == Phase::Summary {
            return;
        }
        let state = VuState::of(ctx);
        let mut recorder = core.recorder().borrow_mut();
        let tags = self.id(state, &mut recorder, status);
        let series = recorder.series(metric, tags);
        state.add_to(&mut recorder, series, value, at);
    }

    /// Records how long a call took.
    pub(super) fn took(
        &self,
        ctx: Ctx<'_>,
        metrics: Metrics,
        (started, ended): (u64, u64),
        status: u32,
    ) {
        let ms = ended.saturating_sub(started) as f64 / 1e6;
        self.add(ctx, metrics.duration, ms, ended, Some(status));
    }
}
