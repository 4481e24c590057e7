//! Flags that set an option: the topmost of the layers in which options are looked for.

use super::{Flag, Takes};

/// The rows, in the order of the help page.
pub(crate) static FLAGS: &[Flag] = &[
    Flag::value("vus", "N", "Run with this many VUs; alone, each runs one iteration")
        .short('u')
        .env("VUS")
        .sets("vus"),
    Flag::value("duration", "D", "Loop for so long, such as 30s or 1m30s")
        .short('d')
        .env("DURATION")
        .sets("duration"),
    Flag::value("iterations", "N", "Run so many iterations, shared by all VUs")
        .short('i')
        .env("ITERATIONS")
        .sets("iterations"),
    Flag::value("stage", "D:N", "Ramp to N VUs within D, such as 1m:50")
        .short('s')
        .many()
        .env("STAGES")
        .sets("stages"),
    Flag::value("execution-segment", "FROM:TO", "Run this share of the test, such as 1/4:1/2")
        .sets("executionSegment"),
    Flag::value("execution-segment-sequence", "LIST", "Name all points at which the test is cut")
        .sets("executionSegmentSequence"),
    Flag::switch("paused", "Wait for the REST API before the start")
        .short('p')
        .env("PAUSED")
        .sets("paused"),
    Flag::switch("no-setup", "Don't run setup()").env("NO_SETUP").sets("noSetup"),
    Flag::switch("no-teardown", "Don't run teardown()").env("NO_TEARDOWN").sets("noTeardown"),
    Flag::value("max-redirects", "N", "Follow at most so many redirects")
        .env("MAX_REDIRECTS")
        .sets("maxRedirects"),
    Flag::value("batch", "N", "Run at most so many requests of one http.batch() at once")
        .env("BATCH")
        .sets("batch"),
    Flag::value("batch-per-host", "N", "The same limit for each host")
        .env("BATCH_PER_HOST")
        .sets("batchPerHost"),
    Flag::value("rps", "N", "Send at most so many requests per second in all")
        .env("RPS")
        .sets("rps"),
    Flag::value("user-agent", "TEXT", "Send this User-Agent; empty sends none")
        .env("USER_AGENT")
        .sets("userAgent"),
    Flag {
        takes: Takes::Maybe { name: "full", bare: "headers" },
        ..Flag::switch("http-debug", "Log requests and responses; =full logs bodies too")
            .env("HTTP_DEBUG")
            .sets("httpDebug")
    },
    Flag::switch("insecure-skip-tls-verify", "Accept any certificate")
        .env("INSECURE_SKIP_TLS_VERIFY")
        .sets("insecureSkipTLSVerify"),
    Flag::switch("no-connection-reuse", "Open a connection for each request")
        .env("NO_CONNECTION_REUSE")
        .sets("noConnectionReuse"),
    Flag::switch("no-vu-connection-reuse", "Close idle connections after each iteration")
        .env("NO_VU_CONNECTION_REUSE")
        .sets("noVUConnectionReuse"),
    Flag::value("min-iteration-duration", "D", "Let each iteration take at least so long")
        .env("MIN_ITERATION_DURATION")
        .sets("minIterationDuration"),
    Flag::switch("throw", "Throw an exception when a request fails")
        .short('w')
        .env("THROW")
        .sets("throw"),
    Flag::value("blacklist-ip", "CIDR", "Never connect to these addresses")
        .many()
        .env("BLACKLIST_IPS")
        .sets("blacklistIPs"),
    Flag::value("block-hostnames", "PATTERN", "Never connect to these hosts; *.example.com works")
        .many()
        .env("BLOCK_HOSTNAMES")
        .sets("blockHostnames"),
    Flag::value("summary-trend-stats", "LIST", "Show these of a trend, such as avg,p(99.9),count")
        .many()
        .env("SUMMARY_TREND_STATS")
        .sets("summaryTrendStats"),
    Flag::value("summary-time-unit", "UNIT", "Show times in s, ms or us")
        .env("SUMMARY_TIME_UNIT")
        .sets("summaryTimeUnit"),
    Flag::value("system-tags", "LIST", "Put only these system tags on samples")
        .many()
        .env("SYSTEM_TAGS")
        .sets("systemTags"),
    Flag::value("tag", "NAME=VALUE", "Put this tag on every sample")
        .many()
        .env("TAGS")
        .sets("tags"),
    Flag::switch("discard-response-bodies", "Don't keep response bodies")
        .env("DISCARD_RESPONSE_BODIES")
        .sets("discardResponseBodies"),
    Flag::value("max-body-size", "SIZE", "Keep no response body larger than this; default 1GiB")
        .env("MAX_BODY_SIZE")
        .sets("maxBodySize"),
    Flag::value(
        "max-body-memory",
        "SIZE",
        "Let all bodies hold at most this; default 3/8 of the memory",
    )
    .env("MAX_BODY_MEMORY")
    .sets("maxBodyMemory"),
    Flag::value(
        "vu-memory",
        "SIZE",
        "End an iteration whose VU needs more; default an eighth of the memory",
    )
    .env("VU_MEMORY")
    .sets("vuMemory"),
    Flag::value("dns", "SPEC", "Resolve names so: ttl=5m,select=random,policy=preferIPv4")
        .env("DNS")
        .sets("dns"),
    Flag::value("local-ips", "LIST", "Send from these addresses: IPs, ranges, CIDRs")
        .env("LOCAL_IPS")
        .sets("localIPs"),
];
