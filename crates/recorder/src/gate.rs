//! The door of the proxy: which requests are passed on, which open a tunnel, which are for the proxy itself.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use http::header::HOST;
use http::uri::{Authority, Scheme};
use http::{Method, Request, StatusCode, Uri};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::dialer::Target;
use crate::forward::{self, Answer, Clients, HEADERS_MAX, HEADERS_SIZE_MAX, WINDOWS};
use crate::shared::Shared;
use crate::{headers, page, tunnel};

/// HTTP/1 reads no longer head.
const HEAD_MAX: usize = 1 << 20;

/// One connection of a browser.
pub(crate) struct Gate {
    shared: Arc<Shared>,
    /// The tunnel that it is inside of: its scheme and its authority.
    inside: Option<(Scheme, Authority)>,
    clients: Clients,
}

impl Gate {
    /// A connection to the proxy itself.
    pub(crate) fn open(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), inside: None, clients: Clients::new(shared, None) }
    }

    /// The inside of a tunnel.
    pub(crate) fn inside(
        shared: &Arc<Shared>,
        scheme: Scheme,
        authority: Authority,
        target: Target,
    ) -> Self {
        let clients = Clients::new(shared, Some(target));
        Self { shared: Arc::clone(shared), inside: Some((scheme, authority)), clients }
    }

    /// Serves all requests of the connection, in HTTP/1 or HTTP/2. Boxed, as a tunnel leads here again.
    pub(crate) fn serve(
        self,
        io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.serve_all(io))
    }

    async fn serve_all(self, io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let gate = Arc::new(self);
        let mut server = auto::Builder::new(gate.shared.tasks.clone());
        server
            .http1()
            .preserve_header_case(true)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_MAX)
            .http2()
            .max_header_list_size(HEADERS_SIZE_MAX)
            .initial_stream_window_size(WINDOWS.0)
            .initial_connection_window_size(WINDOWS.1);
        let service = service_fn(move |request| {
            let gate = Arc::clone(&gate);
            async move { Ok::<_, Infallible>(gate.answer(request).await) }
        });
        // A client that breaks off is no news.
        let _ = server.serve_connection_with_upgrades(TokioIo::new(io), service).await;
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Answer {
        headers::join_cookies(request.headers_mut());
        if self.inside.is_none() && request.method() == Method::CONNECT {
            return tunnel::open(&self.shared, request).await;
        }
        let path = request.uri().path().to_owned();
        let Some(uri) = self.address(&request) else {
            return match page::certificate(&path, &self.shared.authority) {
                Some(certificate) => certificate,
                None => page::not_a_server(&self.shared.own.to_string(), &path),
            };
        };
        let host = uri.host().unwrap_or_default();
        if host.eq_ignore_ascii_case(page::HOST) {
            return page::own(&path, &self.shared.authority);
        }
        let scheme = uri.scheme_str().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        if self.shared.is_own(host, port) {
            return page::not_a_server(&self.shared.own.to_string(), &path);
        }
        if !matches!(scheme, "http" | "https") {
            return page::failed(
                StatusCode::NOT_IMPLEMENTED,
                "Only http and https",
                &format!("This proxy knows nothing of {scheme}://."),
                "Open that address without the proxy.",
            );
        }
        forward::forward(&self.shared, &self.clients, uri, request).await
    }

    /// The whole URL of a request. `None`: it has no authority, so it is meant for the proxy.
    fn address(&self, request: &Request<Incoming>) -> Option<Uri> {
        let uri = request.uri();
        let of_host = || {
            let host = request.headers().get(HOST)?.to_str().ok()?;
            host.parse::<Authority>().ok()
        };
        let (scheme, authority) = match (&self.inside, uri.scheme(), uri.authority()) {
            (Some((scheme, _)), _, Some(authority)) | (None, Some(scheme), Some(authority)) => {
                (scheme.clone(), authority.clone())
            }
            (Some((scheme, authority)), ..) => {
                (scheme.clone(), of_host().unwrap_or_else(|| authority.clone()))
            }
            (None, ..) => return None,
        };
        // Without a user's name: that is for headers.
        let authority = match authority.as_str().rsplit_once('@') {
            Some((_, bare)) => bare.parse().ok()?,
            None => authority,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build().ok()
    }
}
