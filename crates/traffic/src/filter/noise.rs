//! Hosts to which browsers talk for themselves, and hosts of trackers: traffic that a load test of one's own application has no
//! use for.

use url::Url;

/// Hosts of the browsers' own services. A leading dot: all names below, too.
const BROWSERS: [&str; 67] = [
    // Firefox.
    ".services.mozilla.com",
    ".cdn.mozilla.net",
    ".telemetry.mozilla.org",
    "aus5.mozilla.org",
    "aus4.mozilla.org",
    "addons.mozilla.org",
    "versioncheck.addons.mozilla.org",
    "versioncheck-bg.addons.mozilla.org",
    "services.addons.mozilla.org",
    "blocklist.addons.mozilla.org",
    "detectportal.firefox.com",
    "ciscobinary.openh264.org",
    ".accounts.firefox.com",
    "mozilla.cloudflare-dns.com",
    "download.mozilla.org",
    "archive.mozilla.org",
    "crash-reports.mozilla.com",
    "ads.mozilla.org",
    // Chrome and Chromium.
    "update.googleapis.com",
    "optimizationguide-pa.googleapis.com",
    "content-autofill.googleapis.com",
    "safebrowsing.googleapis.com",
    "safebrowsing.google.com",
    "sb-ssl.google.com",
    "clients1.google.com",
    "clients2.google.com",
    "clients3.google.com",
    "clients4.google.com",
    "clients5.google.com",
    "clients6.google.com",
    "clients2.googleusercontent.com",
    "clientservices.googleapis.com",
    "android.clients.google.com",
    "mtalk.google.com",
    // Which accounts are known. A login with Google has other paths.
    "accounts.google.com/ListAccounts",
    ".gvt1.com",
    ".gvt2.com",
    "dl.google.com",
    "tools.google.com",
    "chromewebstore.googleapis.com",
    "chromewebstore.google.com",
    "passwordsleakcheck-pa.googleapis.com",
    "chrome.google.com",
    "componentupdater.googleapis.com",
    "translate.googleapis.com",
    "translate-pa.googleapis.com",
    "chromefeedcontentsuggestions-pa.googleapis.com",
    "chromekanonymity-pa.googleapis.com",
    "chromekanonymityauth-pa.googleapis.com",
    "chromekanonymityquery-pa.googleapis.com",
    "chromesyncpasswords-pa.googleapis.com",
    "aida.googleapis.com",
    // Edge and Windows.
    "edge.microsoft.com",
    "config.edge.skype.com",
    "msedge.api.cdp.microsoft.com",
    ".dl.delivery.mp.microsoft.com",
    "edgeassetservice.azureedge.net",
    ".smartscreen.microsoft.com",
    ".events.data.microsoft.com",
    "ntp.msn.com",
    "browser.events.data.msn.com",
    "www.msftconnecttest.com",
    "ctldl.windowsupdate.com",
    // Safari, Brave, Opera.
    "configuration.apple.com",
    "captive.apple.com",
    ".brave.com",
    "autoupdate.opera.com",
];

/// Hosts of trackers, of advertisers, and of services to which pages send their errors.
const TRACKERS: [&str; 54] = [
    ".google-analytics.com",
    ".analytics.google.com",
    ".googletagmanager.com",
    ".googletagservices.com",
    ".googleadservices.com",
    ".googlesyndication.com",
    ".doubleclick.net",
    "adservice.google.com",
    "www.google.com/ads",
    "connect.facebook.net",
    "www.facebook.com/tr",
    ".hotjar.com",
    ".hotjar.io",
    ".clarity.ms",
    "bat.bing.com",
    ".segment.com",
    ".segment.io",
    ".mixpanel.com",
    ".amplitude.com",
    ".heapanalytics.com",
    ".fullstory.com",
    ".mouseflow.com",
    ".crazyegg.com",
    ".optimizely.com",
    ".newrelic.com",
    ".nr-data.net",
    ".ingest.sentry.io",
    ".ingest.us.sentry.io",
    ".ingest.de.sentry.io",
    ".bugsnag.com",
    ".browser-intake-datadoghq.com",
    ".browser-intake-datadoghq.eu",
    ".logs.datadoghq.com",
    ".matomo.cloud",
    ".plausible.io",
    ".scorecardresearch.com",
    ".quantserve.com",
    ".criteo.com",
    ".criteo.net",
    ".taboola.com",
    ".outbrain.com",
    ".adnxs.com",
    ".adsrvr.org",
    ".rubiconproject.com",
    ".pubmatic.com",
    ".amazon-adsystem.com",
    ".snap.licdn.com",
    "px.ads.linkedin.com",
    "analytics.twitter.com",
    "static.ads-twitter.com",
    "analytics.tiktok.com",
    "ct.pinterest.com",
    "mc.yandex.ru",
    "static.cloudflareinsights.com",
];

/// Why a URL is noise.
pub(super) fn of(url: &Url) -> Option<&'static str> {
    let host = url.host_str()?;
    let is_in = |all: &[&str]| all.iter().any(|pattern| matches(pattern, host, url.path()));
    if is_in(&BROWSERS) {
        return Some("requests of the browser itself");
    }
    is_in(&TRACKERS).then_some("requests to trackers and advertisers")
}

/// `.a.test`: the host and all below it. `a.test/x`: the host, and paths that begin so.
fn matches(pattern: &str, host: &str, path: &str) -> bool {
    let (name, begin) = pattern.split_once('/').unwrap_or((pattern, ""));
    let is_host = match name.strip_prefix('.') {
        Some(name) => {
            host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
        }
        None => host == name,
    };
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    is_host && (begin.is_empty() || first == begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> Option<&'static str> {
        of(&Url::parse(text).expect("a URL"))
    }

    #[test]
    fn browsers_and_trackers_are_noise_and_applications_are_not() {
        for text in [
            "http://detectportal.firefox.com/success.txt",
            "https://incoming.telemetry.mozilla.org/submit",
            "https://shavar.services.mozilla.com/downloads",
            "https://r4---sn-abc.gvt1.com/edgedl/x",
            "https://optimizationguide-pa.googleapis.com/v1:GetModels",
            "https://edge.microsoft.com/x",
            "https://accounts.google.com/ListAccounts?source=ChromiumBrowser",
        ] {
            assert_eq!(reason(text), Some("requests of the browser itself"), "{text}");
        }
        for text in
            ["https://www.google-analytics.com/g/collect", "https://www.facebook.com/tr/?id=1"]
        {
            assert_eq!(reason(text), Some("requests to trackers and advertisers"), "{text}");
        }
        for text in [
            "https://www.facebook.com/login",
            "https://accounts.google.com/o/oauth2/v2/auth?client_id=a",
            "https://fonts.googleapis.com/css",
            "https://shop.test/google-analytics.com",
            "https://mygvt1.com/",
            "http://127.0.0.1:9101/",
        ] {
            assert_eq!(reason(text), None, "{text}");
        }
    }

    #[test]
    fn each_name_is_listed_once_and_in_small_letters() {
        let mut all: Vec<_> = BROWSERS.into_iter().chain(TRACKERS).collect();
        all.sort_unstable();
        for pair in all.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        let hosts = all.iter().filter_map(|name| name.split('/').next());
        assert!(hosts.into_iter().all(|host| host == host.to_ascii_lowercase()));
    }
}
