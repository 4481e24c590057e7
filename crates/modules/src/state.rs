//! The common state of a VU for all modules: its tags, metadata, groups, and which modules it uses. A module's own
//! state is in a slot of its own, see [`VuSlot`].

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use brunt_engine::{Core, mixed};
use brunt_js::{Host, Phase, SlotKey, VuSlot};
use brunt_metrics::{Metadata, MetricId, Recorder, SeriesId, TagSet, TagsId, WARMUP_TAG, builtin};
use brunt_quickjs::{Ctx, Root, Thrown, Value};

use crate::module::Module;
use crate::shared::Shared;
use crate::throwing::throw_stopped;
use crate::watch::Watched;

/// The series of bytes sent and received, and for which epoch and tags of the recorder they are.
type WireSeries = (u32, TagsId, (SeriesId, SeriesId));

/// The state of the k6 API in one VM.
pub(crate) struct VuState {
    pub(crate) shared: Arc<Shared>,
    tags: RefCell<Rc<Tags>>,
    /// Until then (unix ns) the tags say that this is a warm-up; 0 if they don't.
    warm_until: Cell<u64>,
    /// The numbers that were drawn, see [`Self::drawn`].
    random: Cell<u64>,
    metadata: RefCell<Option<Metadata>>,
    /// The series of the bytes on the wire: (epoch, the VU's tags, sent and received).
    wire: Cell<Option<WireSeries>>,
    /// Whether `__ITER` is there, and not what the script assigned to it.
    pub(crate) iterates: Cell<bool>,
    /// The path of the group that runs: `""`, `::a`, `::a::b`.
    pub(crate) group: RefCell<Arc<str>>,
    /// Groups of async functions that have not ended.
    scopes: RefCell<Scopes>,
    /// The objects of the built-in modules that were imported or required; at most one for each module.
    modules: RefCell<Vec<(&'static str, Root)>>,
    /// The modules that hear when iterations begin and end: those that are in use.
    awake: RefCell<Vec<&'static dyn Module>>,
}

/// The tags of a VU's samples at one time: an immutable set, and its id in the core's recorder. Shared, without atomic
/// counting, by the requests that were made under them.
pub(crate) struct Tags {
    set: TagSet,
    /// The script's own value of the `name` tag.
    name: Option<Box<str>>,
    /// (epoch, id).
    id: Cell<Option<(u32, TagsId)>>,
}

impl Tags {
    fn new(set: TagSet) -> Rc<Self> {
        Rc::new(Self { name: set.get("name").map(Into::into), set, id: Cell::new(None) })
    }

    /// A `name` that the script gave all samples.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The scenario, if its system tag is on.
    pub(crate) fn scenario(&self) -> Option<&str> {
        self.set.get("scenario")
    }

    /// The id in this core's recorder.
    pub(crate) fn id(&self, recorder: &mut Recorder) -> TagsId {
        let epoch = recorder.epoch();
        match self.id.get() {
            Some((known, id)) if known == epoch => id,
            _ => {
                let id = recorder.tags(&self.set);
                self.id.set(Some((epoch, id)));
                id
            }
        }
    }
}

/// Groups of async functions. As many as run at the same time.
struct Scopes {
    last: i32,
    groups: Vec<(i32, Arc<str>)>,
    /// The group of all that is in no scope.
    outside: Arc<str>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { last: 0, groups: Vec::new(), outside: no_group() }
    }
}

impl VuSlot for VuState {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(host: &Host) -> Self {
        Self {
            shared: host.shared(),
            tags: RefCell::new(Tags::new(TagSet::default())),
            warm_until: Cell::new(0),
            random: Cell::new(0),
            metadata: RefCell::default(),
            wire: Cell::new(None),
            iterates: Cell::new(false),
            group: RefCell::new(no_group()),
            scopes: RefCell::default(),
            modules: RefCell::default(),
            awake: RefCell::default(),
        }
    }
}

impl VuState {
    /// The state of the VM.
    pub(crate) fn of(ctx: Ctx<'_>) -> &Self {
        Host::of(ctx).slot()
    }

    /// The object of a built-in module, if it was made before.
    pub(crate) fn module<'js>(&self, ctx: Ctx<'js>, specifier: &str) -> Option<Value<'js>> {
        let modules = self.modules.borrow();
        modules.iter().find(|(known, _)| *known == specifier).map(|(_, root)| ctx.rooted(root))
    }

    pub(crate) fn keep_module<'js>(
        &self,
        ctx: Ctx<'js>,
        specifier: &'static str,
        object: &Value<'js>,
    ) {
        self.modules.borrow_mut().push((specifier, ctx.root(object.clone())));
    }

    /// From now on a module hears when iterations begin and end.
    pub(crate) fn wake(&self, module: &'static dyn Module) {
        let mut awake = self.awake.borrow_mut();
        if awake.iter().all(|known| known.specifier() != module.specifier()) {
            awake.push(module);
        }
    }

    /// The modules that hear. One that wakes meanwhile is among them.
    pub(crate) fn awake(&self) -> impl Iterator<Item = &'static dyn Module> {
        (0..).map_while(|index| self.awake.borrow().get(index).copied())
    }

    /// From now on `Math.random` and [`drawn`](Self::drawn) give the numbers of a part of this VU's life, each part others:
    /// whichever core runs it, and whenever.
    pub(crate) fn seed(&self, host: &Host, ctx: Ctx<'_>, part: u64) {
        let seed = mixed(mixed(self.shared.world.seed ^ mixed(host.ids().global)) ^ mixed(part));
        ctx.seed_random(seed);
        self.random.set(mixed(seed));
    }

    /// A random number that the run's seed decides, for everything random that goes to servers. In a VM that belongs to no run
    /// the system decides it.
    pub(crate) fn drawn(ctx: Ctx<'_>) -> u64 {
        let host = ctx.host::<Host>();
        host.map_or_else(|| fastrand::u64(..), |host| host.slot::<Self>().draw())
    }

    /// A number that the seed decides, where it was given so that requests repeat; else `None`: the number must be a secret.
    pub(crate) fn repeated(ctx: Ctx<'_>) -> Option<u64> {
        let state = ctx.host::<Host>()?.slot::<Self>();
        state.shared.world.repeats.then(|| state.draw())
    }

    /// The seed of this VU's connections, which draw apart from its iterations.
    pub(crate) fn seed_of_connections(&self, host: &Host) -> u64 {
        /// No iteration has this number.
        const CONNECTIONS: u64 = u64::MAX - 3;
        mixed(mixed(self.shared.world.seed ^ mixed(host.ids().global)) ^ mixed(CONNECTIONS))
    }

    fn draw(&self) -> u64 {
        let next = self.random.get().wrapping_add(1);
        self.random.set(next);
        mixed(next)
    }

    /// The tags of samples now.
    pub(crate) fn tag_set(&self) -> TagSet {
        self.end_warmup();
        self.tags.borrow().set.clone()
    }

    /// The VU begins to work for a scenario whose warm-up lasts until then (unix ns), which its tags say.
    pub(crate) fn begin_warmup(&self, until: u64) {
        self.warm_until.set(until);
    }

    /// Whether it is a warm-up.
    pub(crate) fn is_warm(&self) -> bool {
        self.end_warmup();
        self.warm_until.get() != 0
    }

    /// Takes the tag of the warm-up away as soon as that is over. Costs a comparison where there is none.
    fn end_warmup(&self) {
        let until = self.warm_until.get();
        if until != 0 && brunt_fiber::clock::now_ns() >= until {
            self.warm_until.set(0);
            let tags = self.tags.borrow().set.without(WARMUP_TAG);
            self.set_tags(tags);
        }
    }

    pub(crate) fn set_tags(&self, tags: TagSet) {
        *self.tags.borrow_mut() = Tags::new(tags);
    }

    /// [`Self::set_tags`], for tags that the VUs of a scenario begin with: those of a core share them.
    pub(crate) fn set_common_tags(&self, host: &Host, tags: TagSet) {
        thread_local! {
            static LAST: RefCell<Option<(Weak<Core>, Rc<Tags>)>> = const { RefCell::new(None) };
        }
        let Some(core) = host.core() else { return self.set_tags(tags) };
        LAST.with_borrow_mut(|last| {
            // The id in them is one of this core's recorder.
            let common = match last {
                Some((of, common)) if of.as_ptr() == Rc::as_ptr(core) && common.set == tags => {
                    Rc::clone(common)
                }
                _ => Tags::new(tags),
            };
            *last = Some((Rc::downgrade(core), Rc::clone(&common)));
            *self.tags.borrow_mut() = common;
        });
    }

    /// The watcher of all, and the place of the script now; in most runs none.
    pub(crate) fn watched(&self, host: &Host) -> Option<Box<Watched>> {
        let watcher = self.shared.config().watcher.as_ref().filter(|one| one.sees_all())?;
        let watcher = Rc::new(Arc::clone(watcher));
        Some(Box::new(Watched::new(watcher, host, Arc::clone(&self.group.borrow()))))
    }

    /// The tags as they are now, to be kept.
    pub(crate) fn tags(&self) -> Rc<Tags> {
        self.end_warmup();
        Rc::clone(&self.tags.borrow())
    }

    /// Runs `during` with a `group` tag of `path`; tags that the script sets meanwhile stay.
    pub(crate) fn in_group<R>(&self, path: Arc<str>, during: impl FnOnce() -> R) -> R {
        let before = std::mem::replace(&mut *self.group.borrow_mut(), path);
        let outer = Rc::clone(&self.tags.borrow());
        self.show_group();
        let inner = Rc::clone(&self.tags.borrow());
        let result = during();
        let is_as_before = Rc::ptr_eq(&inner, &self.tags.borrow())
            && (Rc::ptr_eq(&inner, &outer) || outer.set.get("group") == Some(&before));
        *self.group.borrow_mut() = before;
        // A warm-up that ended meanwhile is over for the tags around the group, too.
        if is_as_before && (self.is_warm() || outer.set.get(WARMUP_TAG).is_none()) {
            // With the id that they have in the recorder.
            *self.tags.borrow_mut() = outer;
        } else {
            self.show_group();
        }
        result
    }

    /// A scope for an async function in this group: it is in the group after each `await`, too.
    pub(crate) fn new_scope(&self, path: Arc<str>) -> i32 {
        let mut scopes = self.scopes.borrow_mut();
        scopes.last = scopes.last.checked_add(1).unwrap_or(1);
        let scope = scopes.last;
        scopes.groups.push((scope, path));
        scope
    }

    /// Work that still runs in the scope is in no group of its own from now on.
    pub(crate) fn end_scope(&self, scope: i32) {
        self.scopes.borrow_mut().groups.retain(|(known, _)| *known != scope);
    }

    /// The iteration is over: async functions that will never end, end here.
    pub(crate) fn end_scopes(&self) {
        self.scopes.borrow_mut().groups = Vec::new();
    }

    pub(crate) fn change_scope(&self, from: i32, to: i32) {
        let mut scopes = self.scopes.borrow_mut();
        let before = Arc::clone(&self.group.borrow());
        if from == 0 {
            scopes.outside = before;
        } else if let Some((_, path)) = scopes.groups.iter_mut().find(|(scope, _)| *scope == from) {
            *path = before;
        }
        let groups = scopes.groups.iter();
        let path = groups.clone().find(|(scope, _)| *scope == to).map(|(_, path)| path);
        let path = Arc::clone(path.unwrap_or(&scopes.outside));
        drop(scopes);
        *self.group.borrow_mut() = path;
        self.show_group();
    }

    fn show_group(&self) {
        if self.shared.config().system_tags.group {
            let path = Arc::clone(&self.group.borrow());
            let tags = self.tag_set().with("group", &path);
            self.set_tags(tags);
        }
    }

    /// The id of the tags in this core's recorder.
    pub(crate) fn tags_id(&self, recorder: &mut Recorder) -> TagsId {
        self.end_warmup();
        self.tags.borrow().id(recorder)
    }

    pub(crate) fn metadata(&self) -> Option<Metadata> {
        self.metadata.borrow().clone()
    }

    pub(crate) fn set_metadata(&self, metadata: Metadata) {
        *self.metadata.borrow_mut() = (!metadata.is_empty()).then_some(metadata);
    }

    /// Records one sample of a metric, with the VU's tags and these on top.
    pub(crate) fn add(&self, host: &Host, metric: MetricId, value: f64, extra: &[(&str, &str)]) {
        let Some(core) = host.core() else { return };
        if host.phase() == Phase::Summary {
            return;
        }
        let at = core.now();
        let metadata = self.metadata.borrow();
        let mut recorder = core.recorder().borrow_mut();
        let base = self.tags_id(&mut recorder);
        let tags = if extra.is_empty() { base } else { recorder.tags_with(base, extra) };
        let series = recorder.series(metric, tags);
        recorder.add(series, value, at, metadata.as_ref());
    }

    /// Records a sample of a known series.
    pub(crate) fn add_to(&self, recorder: &mut Recorder, series: SeriesId, value: f64, at: u64) {
        recorder.add(series, value, at, self.metadata.borrow().as_ref());
    }

    /// Records what went over the VU's sockets since the last time.
    pub(crate) fn add_wire_bytes(&self, host: &Host, (sent, received): (u64, u64)) {
        let Some(core) = host.core() else { return };
        let at = core.now();
        let mut recorder = core.recorder().borrow_mut();
        let base = self.tags_id(&mut recorder);
        let (sent_series, received_series) = match self.wire.get() {
            Some((epoch, tags, series)) if epoch == recorder.epoch() && tags == base => series,
            _ => {
                let series = (
                    recorder.series(builtin::DATA_SENT, base),
                    recorder.series(builtin::DATA_RECEIVED, base),
                );
                self.wire.set(Some((recorder.epoch(), base, series)));
                series
            }
        };
        self.add_to(&mut recorder, sent_series, sent as f64, at);
        self.add_to(&mut recorder, received_series, received as f64, at);
    }
}

/// Lets the core's other VUs go on if this one has not waited for anything for [`SLICE_NS`]. The interpreter counts steps, and
/// a step that makes new tags takes far longer than others; so whoever takes new names from a script asks this.
///
/// # Errors
/// The VU was stopped meanwhile.
pub(crate) fn give_way(ctx: Ctx<'_>) -> Result<(), Thrown> {
    /// As the interpreter has it.
    const SLICE_NS: u64 = 2_000_000;
    thread_local! {
        /// Which resumption of a fiber this core saw last, and when it saw it first.
        static SEEN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    }
    if !brunt_fiber::on_fiber() || Host::of(ctx).core().is_none() {
        return Ok(());
    }
    let (resumed, now) = (brunt_fiber::resume_count(), brunt_fiber::clock::now_ns());
    let (seen, since) = SEEN.get();
    if seen != resumed {
        SEEN.set((resumed, now));
    } else if now.saturating_sub(since) > SLICE_NS {
        SEEN.set((0, 0));
        return brunt_fiber::yield_now().map_err(|_| throw_stopped(ctx));
    }
    Ok(())
}

/// The path of no group: one for all VMs of a core, which then know it by its address.
pub(crate) fn no_group() -> Arc<str> {
    thread_local! {
        static NONE: Arc<str> = Arc::from("");
    }
    NONE.with(Arc::clone)
}
