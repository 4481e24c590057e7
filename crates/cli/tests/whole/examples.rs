//! Each example runs against the demo target inside, to its good end.

use std::collections::BTreeSet;

use crate::support::{DemoServer, brunt, repository};

fn runs(example: &str) {
    let folder = repository("examples");
    let told = brunt("run --quiet --demo").word(folder.join(example)).told();
    assert_eq!(told.code, 0, "{example}: {}\n{}", told.stdout, told.stderr);
    let mut errors = told.stderr.lines().filter(|line| line.contains("level=error"));
    assert_eq!(errors.next(), None, "{example}");
    assert!(!told.stdout.is_empty(), "{example} shows no summary");
}

macro_rules! examples {
    ($($test:ident $file:literal)*) => {
        $(
            #[test]
            fn $test() {
                runs($file);
            }
        )*

        #[test]
        fn no_example_is_forgotten() {
            let tested: BTreeSet<&str> = [$($file),*].into();
            for entry in std::fs::read_dir(repository("examples")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                // The caching study has a test of its own below.
                if name == "caching.js" {
                    continue;
                }
                if name.ends_with(".js") || name.ends_with(".ts") {
                    assert!(tested.contains(name.as_str()), "{name} has no test");
                }
            }
        }
    };
}

examples! {
    asynchronous "async.js"
    async_groups "async-groups.js"
    basic_auth "basic-auth.js"
    batch "batch.js"
    compression "compression.js"
    cookies "cookies.js"
    csv "csv.js"
    custom_metrics "custom-metrics.js"
    dns "dns.js"
    faker "faker.js"
    fasthttp "fasthttp.js"
    fasthttp_post "fasthttp-post.js"
    fasthttp_upload "fasthttp-upload.js"
    fetch "fetch.js"
    form "form.js"
    form_data "form-data.js"
    formdata_library "formdata-library.js"
    forms "forms/journey.js"
    get "get.js"
    groups_and_checks "groups-and-checks.js"
    grpc "grpc.js"
    grpc_streams "grpc-streams.js"
    html "html.js"
    icmp "icmp.js"
    modules "modules/main.js"
    mqtt "mqtt.js"
    post_json "post-json.js"
    ramping_arrival "ramping-arrival.js"
    redis "redis.js"
    redirects "redirects.js"
    scenarios "scenarios.js"
    secrets "secrets.js"
    setup_teardown "setup-teardown.js"
    sql_query "sql/query.js"
    shared_array "shared-array.js"
    shared_data "shared-data.js"
    shared_files "shared-files.js"
    stale_reads "stale-reads.js"
    stream_response "stream-response.js"
    streams "streams.js"
    summary "summary.js"
    tcp "tcp.js"
    thresholds_abort "thresholds-abort.js"
    typescript "typescript.ts"
    server_sent_events "sse.js"
    websocket "websocket.js"
    upload "upload.js"
    webcrypto "webcrypto.js"
}

/// `brunt convert` wrote it; five users run it three times each, and the server counts.
#[test]
fn the_recorded_forms_do_the_whole_journey() {
    let demo = DemoServer::start();
    let script = repository("examples/forms/recorded/script.js");
    let told = brunt("run --quiet --vus 5 --iterations 15 --env PACE=0")
        .words("--secret-source=mock=password=secret --env")
        .word(format!("BASE_URL={}", demo.url))
        .word(script)
        .told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    let truth = brunt_journeys::demo_truth(&demo.url);
    assert_eq!((truth.done, truth.refused), (15, Vec::new()));
}

#[test]
fn a_threshold_can_end_the_test_early() {
    let script = repository("examples").join("thresholds-abort.js");
    let told = brunt("run --quiet --demo -e FAIL=0.9").word(script).told();
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.error().contains("at least one has abortOnFail enabled"), "{told:?}");
}

#[test]
fn the_caching_study_shows_its_shape_and_warns_of_names_with_spaces() {
    let script = repository("examples").join("caching.js");
    let mut call =
        brunt("run --quiet --demo -e SHORT=1 --summary-export summary.json").word(script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    for name in ["No cache duration", "Answers from a cache"] {
        let warned = told.stderr.lines().any(|l| l.contains("level=warning") && l.contains(name));
        assert!(warned && told.stdout.contains(name), "{told:?}");
    }
    let summary: serde_json::Value = serde_json::from_str(&call.read("summary.json")).unwrap();
    let median = |name: &str| summary["metrics"][name]["med"].as_f64().unwrap();
    let (none, redis) = (median("No cache duration"), median("Redis duration"));
    assert!(none > 3.0 * redis, "no cache {none}, Redis {redis}");
    for name in ["Memory cache duration", "Lazy cache duration", "Dictionary duration"] {
        let memory = median(name);
        assert!(redis > memory + 20.0, "Redis {redis}, {name} {memory}");
    }
}
