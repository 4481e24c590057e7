//! Flags that set an option: the topmost layer of options.

use super::{Flag, Takes};

/// The rows; `groups` has the order of the help page.
pub(crate) static FLAGS: &[Flag] = &[
    Flag::value("vus", "N", "Run N virtual users; with no other flag of load, each runs one iteration")
        .short('u')
        .env("VUS")
        .sets("vus"),
    Flag::value("duration", "D", "Repeat the script for this time, such as 30s or 1m30s")
        .short('d')
        .env("DURATION")
        .sets("duration"),
    Flag::value("iterations", "N", "Run N iterations in all, shared by the VUs")
        .short('i')
        .env("ITERATIONS")
        .sets("iterations"),
    Flag::value("stage", "D:N", "Ramp to N VUs within the time D, such as 1m:50; repeat it for more stages")
        .short('s')
        .many()
        .env("STAGES")
        .sets("stages"),
    Flag::value("execution-segment", "FROM:TO", "Run this share of the test, such as 1/4:1/2; the other machines run the rest")
        .sets("executionSegment"),
    Flag::value("execution-segment-sequence", "LIST", "List all cuts between the shares, such as 0,1/4,1/2,1")
        .sets("executionSegmentSequence"),
    Flag::switch("paused", "Wait before the start until `brunt resume` or the REST API starts the test")
        .short('p')
        .env("PAUSED")
        .sets("paused"),
    Flag::value("seed", "N", "Begin all randomness of the test here: the same seed gives the same requests [default: a random one, which is shown]")
        .env("SEED")
        .sets("seed"),
    Flag::value("threshold", "METRIC: EXPR", "Add a threshold, such as 'http_req_duration: p(95)<200 window=30s for=10s'; repeat it for more")
        .many()
        .sets("thresholds"),
    Flag::switch("no-setup", "Skip setup()").env("NO_SETUP").sets("noSetup"),
    Flag::switch("no-teardown", "Skip teardown()").env("NO_TEARDOWN").sets("noTeardown"),
    Flag::value("max-redirects", "N", "Follow at most N redirects of a request [default: 10]")
        .env("MAX_REDIRECTS")
        .sets("maxRedirects"),
    Flag::value("batch", "N", "Send at most N requests of one http.batch() at the same time [default: 20]")
        .env("BATCH")
        .sets("batch"),
    Flag::value("batch-per-host", "N", "Send at most N of them to the same host [default: 6]")
        .env("BATCH_PER_HOST")
        .sets("batchPerHost"),
    Flag::value("rps", "N", "Send at most N requests per second, all VUs together")
        .env("RPS")
        .sets("rps"),
    Flag::value("user-agent", "TEXT", "Send this User-Agent header; an empty text sends none")
        .env("USER_AGENT")
        .sets("userAgent"),
    Flag {
        takes: Takes::Maybe { name: "full", bare: "headers" },
        ..Flag::switch("http-debug", "Log the heads of requests and responses; =full logs their bodies too")
            .env("HTTP_DEBUG")
            .sets("httpDebug")
    },
    Flag::switch("insecure-skip-tls-verify", "Accept every TLS certificate of a server")
        .env("INSECURE_SKIP_TLS_VERIFY")
        .sets("insecureSkipTLSVerify"),
    Flag::switch("no-connection-reuse", "Open a new connection for each request")
        .env("NO_CONNECTION_REUSE")
        .sets("noConnectionReuse"),
    Flag::switch("no-vu-connection-reuse", "Close idle connections after each iteration")
        .env("NO_VU_CONNECTION_REUSE")
        .sets("noVUConnectionReuse"),
    Flag::value("min-iteration-duration", "D", "Let each iteration take at least this time")
        .env("MIN_ITERATION_DURATION")
        .sets("minIterationDuration"),
    Flag::switch("throw", "Throw an exception when a request fails")
        .short('w')
        .env("THROW")
        .sets("throw"),
    Flag::value("blacklist-ip", "CIDR", "Refuse connections to these addresses, such as 10.0.0.0/8")
        .many()
        .env("BLACKLIST_IPS")
        .sets("blacklistIPs"),
    Flag::value("block-hostnames", "PATTERN", "Refuse connections to these hosts, such as *.example.com")
        .many()
        .env("BLOCK_HOSTNAMES")
        .sets("blockHostnames"),
    Flag::value("summary-trend-stats", "LIST", "Show these figures of a trend, such as avg,p(99.9),count [default: avg,min,med,max,p(90),p(95)]")
        .many()
        .env("SUMMARY_TREND_STATS")
        .sets("summaryTrendStats"),
    Flag::value("summary-time-unit", "UNIT", "Show all times in this unit: s, ms or us [default: the unit that suits each value]")
        .env("SUMMARY_TIME_UNIT")
        .sets("summaryTimeUnit"),
    Flag::value("system-tags", "LIST", "Put only these system tags on samples, such as method,status,url; route is the route of a request")
        .many()
        .env("SYSTEM_TAGS")
        .sets("systemTags"),
    Flag::value("tag", "NAME=VALUE", "Put this tag on every sample; repeat it for more tags")
        .many()
        .env("TAGS")
        .sets("tags"),
    Flag::switch("discard-response-bodies", "Read response bodies and drop them")
        .env("DISCARD_RESPONSE_BODIES")
        .sets("discardResponseBodies"),
    Flag::value("max-body-size", "SIZE", "Fail requests whose response body is larger [default: 1GiB]")
        .env("MAX_BODY_SIZE")
        .sets("maxBodySize"),
    Flag::value(
        "max-body-memory",
        "SIZE",
        "Fail requests when all bodies together would hold more [default: 3/8 of the memory]",
    )
    .env("MAX_BODY_MEMORY")
    .sets("maxBodyMemory"),
    Flag::value(
        "vu-memory",
        "SIZE",
        "End an iteration whose VU needs more memory [default: 1/8 of the memory]",
    )
    .env("VU_MEMORY")
    .sets("vuMemory"),
    Flag::value("dns", "SPEC", "Resolve host names by these rules [default: ttl=5m,select=random,policy=preferIPv4]")
        .env("DNS")
        .sets("dns"),
    Flag::value("local-ips", "LIST", "Send from these local addresses: IPs, ranges and CIDRs, separated by commas")
        .env("LOCAL_IPS")
        .sets("localIPs"),
];
