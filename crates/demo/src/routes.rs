//! Which path is which route. Most are known by their first segment.

use hyper::Uri;

use crate::images;

macro_rules! routes {
    ($($variant:ident $first:literal $name:literal,)*) => {
        /// A route of the demo target.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Route {
            $(#[doc = $name] $variant,)*
        }

        impl Route {
            /// Every route, in the order of their numbers.
            pub(crate) const ALL: &[Route] = &[$(Route::$variant,)*];

            /// The path's pattern, as reports call the route.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Route::$variant => $name,)*
                }
            }

            fn of_segment(first: &str) -> Self {
                match first {
                    $($first => Route::$variant,)*
                    _ => Route::Unknown,
                }
            }
        }
    };
}

routes! {
    Root "" "/",
    Ping "ping" "/ping",
    Control "_demo" "/_demo/*",
    NoCache "nocache" "/nocache/{id}",
    Dictionary "dictionary" "/dictionary/{id}",
    Memory "memory" "/memory/{id}",
    Lazy "lazy" "/lazy/{id}",
    Redis "redis" "/redis/{id}",
    WriteThrough "writethrough" "/writethrough/{id}",
    LazyWrite "lazywrite" "/lazywrite/{id}",
    TwoTier "twotier" "/twotier/{id}",
    Event "event" "/event/{id}",
    Immutable "immutable" "/immutable/{id}",
    Mutable "mutable" "/mutable/{id}",
    Status "status" "/status/{code}",
    Delay "delay" "/delay/{ms}",
    Redirect "redirect" "/redirect/{n}",
    RedirectTo "redirect-to" "/redirect-to",
    Gzip "gzip" "/gzip",
    Brotli "br" "/br",
    Deflate "deflate" "/deflate",
    Zstd "zstd" "/zstd",
    Cookies "cookies" "/cookies/*",
    Basic "basic" "/basic/{user}/{password}",
    Bearer "bearer" "/bearer",
    Digest "digest" "/digest/{user}/{password}",
    Ntlm "ntlm" "/ntlm/{user}/{password}",
    Flaky "flaky" "/flaky",
    RateLimit "ratelimit" "/ratelimit",
    Chunked "chunked" "/chunked",
    Events "sse" "/sse",
    GraphQl "graphql" "/graphql",
    Upload "upload" "/upload/detect",
    Sink "sink" "/sink",
    Source "source" "/source",
    Stream "stream" "/stream",
    Json "json" "/json",
    Html "html" "/html",
    WebSocket "ws" "/ws/*",
    Headers "headers" "/headers",
    Anything "anything" "/anything/*",
    FormLogin "?login" "/app/login.xhtml",
    FormOrders "?orders" "/app/orders.xhtml",
    FormOrder "?order" "/app/order.xhtml",
    FormUpload "?upload" "/app/upload.xhtml",
    FormLogout "?logout" "/app/logout.xhtml",
    FormResource "?resource" "/app/*.faces.resource/*",
    Forms "app" "/app/*",
    SaveImage "images" "/images",
    Debug "debug" "/debug",
    Image "?image" "/{object}",
    Unknown "?" "(unknown)",
}

/// The route of a request's address and what follows the first segment of its path.
///
/// Fixed names go first. Any other name is a picture's address, or unknown.
pub(crate) fn of(uri: &Uri) -> (Route, &str) {
    match find(uri.path()) {
        (Route::Unknown, rest) if images::claims(uri) => (Route::Image, rest),
        (Route::SaveImage, rest) if !rest.is_empty() && images::claims(uri) => (Route::Image, rest),
        (Route::Forms, rest) => (of_form(rest), rest),
        found => found,
    }
}

/// The route of a path behind `/app/`.
fn of_form(rest: &str) -> Route {
    match rest {
        "login.xhtml" => Route::FormLogin,
        "orders.xhtml" => Route::FormOrders,
        "order.xhtml" => Route::FormOrder,
        "upload.xhtml" => Route::FormUpload,
        "logout.xhtml" => Route::FormLogout,
        _ if rest.starts_with("javax.faces.resource/") => Route::FormResource,
        _ if rest.starts_with("jakarta.faces.resource/") => Route::FormResource,
        _ => Route::Forms,
    }
}

/// The route of a path and what follows its first segment, without the slash between.
///
/// `/redirect/3` is [`Route::Redirect`] and `3`.
fn find(path: &str) -> (Route, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    (Route::of_segment(first), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_segment_decides() {
        assert_eq!(find("/"), (Route::Root, ""));
        assert_eq!(find("/redirect/3"), (Route::Redirect, "3"));
        assert_eq!(find("/_demo/stats"), (Route::Control, "stats"));
        assert_eq!(find("/basic/a/b"), (Route::Basic, "a/b"));
        assert_eq!(find("/nothing"), (Route::Unknown, ""));
    }

    #[test]
    fn other_names_may_be_pictures_and_applications_have_pages() {
        for (address, route) in [
            ("/example.jpg?x-oss-process=image/info", Route::Image),
            ("/a/b.png", Route::Image),
            ("/a!box100", Route::Image),
            ("/images", Route::SaveImage),
            ("/images/a.gif", Route::Image),
            ("/json?x-oss-process=image/info", Route::Json),
            ("/a", Route::Unknown),
            ("/app/order.xhtml?id=7", Route::FormOrder),
            ("/app/javax.faces.resource/jsf.js?ln=x", Route::FormResource),
            ("/app/other", Route::Forms),
        ] {
            assert_eq!(of(&address.parse().unwrap()).0, route, "{address}");
        }
    }

    #[test]
    fn a_route_is_its_place_in_the_list() {
        for (index, route) in Route::ALL.iter().enumerate() {
            assert_eq!(*route as usize, index);
        }
    }
}
