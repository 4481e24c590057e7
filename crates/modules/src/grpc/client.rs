//! `Client`: what it loaded, and whom it is connected to.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use brunt_fiber::block_on;
use brunt_grpc::{Method, Schema, health, reflection};
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};
use tokio::time::timeout;

use super::connect::{Link, Params};
use super::params::{Refusal, capped, time_left};
use super::record::{Labels, Metrics};
use super::{call, load};
use crate::throwing::{throw, throw_stopped};

static PACKAGE: Name = Name::new("package");
static SERVICE: Name = Name::new("service");
static FULL_METHOD: Name = Name::new("full_method");
static NAME: Name = Name::new("name");
static IS_CLIENT_STREAM: Name = Name::new("is_client_stream");
static IS_SERVER_STREAM: Name = Name::new("is_server_stream");
static STATUS: Name = Name::new("status");

/// `healthCheck()` takes at most so long where an iteration has no end.
const HEALTH_TIMEOUT: std::time::Duration = std::time::Duration::from_mins(1);

/// A client of a script.
pub(super) struct Client {
    /// The schemas that were loaded, each once.
    schemas: RefCell<Vec<Arc<Schema>>>,
    /// The schema that the server told when it was connected to.
    reflected: RefCell<Option<Arc<Schema>>>,
    link: RefCell<Option<Rc<Link>>>,
    pub(super) metrics: Metrics,
}

impl Class for Client {
    const NAME: &'static std::ffi::CStr = c"Client";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"asyncInvoke", 3, call::async_invoke)
                .method(c"close", 0, close)
                .method(c"connect", 2, connect)
                .method(c"healthCheck", 1, health_check)
                .method(c"invoke", 3, call::invoke)
                .method(c"load", 1, load)
                .method(c"loadProtoset", 1, load_protoset)
        });
        &MEMBERS
    }
}

pub(super) fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    ctx.instance(Client {
        schemas: RefCell::default(),
        reflected: RefCell::default(),
        link: RefCell::default(),
        metrics: Metrics::of(ctx)?,
    })
}

impl Client {
    /// The client on which a method is called.
    pub(super) fn this<'a>(ctx: Ctx<'_>, this: &'a Value<'_>) -> JsResult<'a, &'a Self> {
        this.instance::<Self>().ok_or_else(|| ctx.throw_type("this is not a gRPC client"))
    }

    /// The way to the server, if it is connected to one.
    pub(super) fn link(&self) -> Option<Rc<Link>> {
        self.link.borrow().clone()
    }

    /// The method of a name, with or without a slash before it; an error is k6's sentence.
    pub(super) fn find(&self, name: &str) -> Result<(Arc<Schema>, Arc<Method>), String> {
        let path = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
        let (reflected, loaded) = (self.reflected.borrow(), self.schemas.borrow());
        for schema in reflected.iter().chain(loaded.iter().rev()) {
            if let Some(method) = schema.find(&path) {
                return Ok((Arc::clone(schema), Arc::clone(method)));
            }
        }
        Err(format!("method \"{path}\" not found in file descriptors"))
    }

    /// Keeps a schema; returns its methods as scripts see them.
    fn keep<'js>(&self, ctx: Ctx<'js>, schema: Arc<Schema>) -> JsResult<'js> {
        let mut methods = Vec::new();
        for method in schema.methods() {
            methods.push(ctx.object_from([
                (&PACKAGE, ctx.string(&method.package)?),
                (&SERVICE, ctx.string(&method.service)?),
                (&FULL_METHOD, ctx.string(&method.path)?),
                (&NAME, ctx.string(&method.name)?),
                (&IS_CLIENT_STREAM, ctx.bool(method.is_client_stream)),
                (&IS_SERVER_STREAM, ctx.bool(method.is_server_stream)),
            ])?);
        }
        let mut schemas = self.schemas.borrow_mut();
        schemas.retain(|known| !Arc::ptr_eq(known, &schema));
        schemas.push(schema);
        ctx.array_from(methods)
    }
}

fn only_in_init(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    if Host::of(ctx).phase() == Phase::Init {
        return Ok(());
    }
    Err(throw(ctx, "load must be called in the init context"))
}

fn load<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = Client::this(ctx, &this)?;
    only_in_init(ctx)?;
    let schema = load::protos(ctx, &call.argument(0), &call.arguments_from(1))?;
    client.keep(ctx, schema)
}

fn load_protoset<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = Client::this(ctx, &this)?;
    only_in_init(ctx)?;
    let schema = load::protoset(ctx, &call.argument(0).to_string_lossy()?)?;
    client.keep(ctx, schema)
}

fn connect<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = Client::this(ctx, &this)?;
    if Host::of(ctx).phase() == Phase::Init {
        let told = "connecting to a gRPC server in the init context is not supported";
        return Err(throw(ctx, told));
    }
    let address = call.argument(0);
    let address = if address.is_nullish() { String::new() } else { address.to_string_lossy()? };
    let params = Params::read(&call.argument(1)).map_err(|refusal| match refusal {
        Refusal::Thrown(thrown) => thrown,
        Refusal::Told(told) if told.starts_with("failed to append") => throw(ctx, &told),
        Refusal::Told(told) => throw(ctx, &format!("invalid grpc.connect() parameters: {told}")),
    })?;
    let link = Link::new(ctx, &address, &params).map_err(|told| throw(ctx, &told))?;
    if params.timeout.is_zero() {
        return Err(throw(ctx, "context deadline exceeded"));
    }
    let began = tokio::time::Instant::now();
    let limit = capped(ctx, Some(params.timeout)).unwrap_or(params.timeout);
    let Ok(opened) = block_on(link.open_within(limit)) else { return Err(throw_stopped(ctx)) };
    let channel = opened.map_err(|told| throw(ctx, &told))?;
    *client.link.borrow_mut() = Some(link);
    if params.reflects {
        let labels = Labels::unnamed(ctx);
        let started = brunt_fiber::clock::now_ns();
        let left = limit.saturating_sub(began.elapsed());
        let asked = reflection::reflect(&channel, params.reflect_metadata.as_ref(), left);
        let reflected = match block_on(timeout(left, asked)) {
            Err(_) => return Err(throw_stopped(ctx)),
            Ok(Err(_)) => return Err(throw(ctx, "context deadline exceeded")),
            Ok(Ok(reflected)) => reflected,
        };
        let ended = brunt_fiber::clock::now_ns();
        for code in &reflected.codes {
            labels.took(ctx, client.metrics, (started, ended), *code);
        }
        let schema = reflected.schema.map_err(|error| throw(ctx, &error.to_string()))?;
        *client.reflected.borrow_mut() = Some(Arc::new(schema));
    }
    Ok(ctx.bool(true))
}

fn close<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    Client::this(ctx, &this)?.link.borrow_mut().take();
    Ok(ctx.undefined())
}

fn health_check<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = Client::this(ctx, &this)?;
    let Some(link) = client.link() else {
        return Err(throw(ctx, "no gRPC connection, you must call connect first"));
    };
    let service = call.argument(0);
    let service = if service.is_nullish() { String::new() } else { service.to_string_lossy()? };
    let labels = Labels::unnamed(ctx);
    let request = health::request(&service);
    let left = time_left(ctx);
    let about = brunt_grpc::Call { path: health::PATH, metadata: None, timeout: left };
    let limit = left.unwrap_or(HEALTH_TIMEOUT);
    let Ok(done) = block_on(call::make(&link, &about, &request, limit)) else {
        return Err(throw_stopped(ctx));
    };
    let status = &done.outcome.status;
    done.record(ctx, client.metrics, &labels, status.code);
    if !status.is_ok() {
        return Err(throw(ctx, &status.as_error()));
    }
    let told = health::status(done.outcome.message.as_deref().unwrap_or_default());
    ctx.object_from([(&STATUS, super::status::health(ctx, told.unwrap_or_default())?)])
}
