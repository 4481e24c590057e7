//! The image handler: pictures, refusals, cache, queue, instances.

use std::time::{Duration, Instant};

use brunt_demo::{Demo, DemoConfig, DemoHandle, ImageConfig};
use serde_json::json;

use crate::client::{Answer, Client, get, storm};

const BUSY: &str = r#"{"message":"Too many requests, please try again later."}"#;

fn serve(change: impl FnOnce(&mut ImageConfig)) -> DemoHandle {
    let mut config = DemoConfig::fast();
    change(&mut config.image);
    Demo::start(config).unwrap()
}

fn synthetic(change: impl FnOnce(&mut ImageConfig)) -> DemoHandle {
    serve(|image| {
        image.synthetic = true;
        change(image);
    })
}

fn width(width: u32) -> String {
    format!(
        "/example.jpg?x-oss-process=image/resize,w_{width}/quality,q_80/auto-orient,0/interlace,1/format,jpg"
    )
}

fn size(jpeg: &[u8]) -> (u32, u32) {
    let picture = image::load_from_memory(jpeg).unwrap();
    (picture.width(), picture.height())
}

fn phases(answer: &Answer) -> Vec<&str> {
    let timing = answer.header("server-timing").unwrap();
    timing.split(", ").map(|phase| phase.split_once(';').unwrap().0).collect()
}

#[test]
fn a_picture_is_made_once_and_then_comes_from_memory() {
    let demo = serve(|_| {});
    let mut client = Client::new(demo.addr());
    let made = client.get(&width(100));
    assert_eq!((made.status, made.header("content-type")), (200, Some("image/jpeg")));
    assert_eq!(size(&made.body), (100, 75));
    assert_eq!((made.header("x-cache"), made.header("x-cached-response")), (Some("miss"), None));
    assert_eq!((made.header("x-instance"), made.header("x-queue")), (Some("0"), Some("0")));
    assert_eq!(phases(&made), ["decode", "resize", "encode", "total"]);
    let kept = client.get(&width(100));
    assert_eq!(kept.body, made.body);
    assert_eq!(kept.header("x-cached-response"), Some("HIT"));
    assert_eq!(phases(&kept), ["total"]);
    // Another bucket, another order of the same words: other keys.
    let other = client.send("GET", &width(100), &[("x-bucket", "b")], b"");
    assert_eq!((other.status, other.header("x-cache")), (200, Some("miss")));
    let stats = client.get("/_demo/stats").json();
    let total = &stats["images"]["total"];
    assert_eq!([&total["hit"], &total["miss"], &total["made"]], [1, 2, 2]);
    assert_eq!(total["items"], 2);
    assert_eq!(stats["requests"]["by_route"]["/{object}"], json!({ "200": 3 }));
    client.post("/_demo/reset", "");
    assert_eq!(client.get(&width(100)).header("x-cache"), Some("miss"));
}

#[test]
fn who_has_it_already_gets_304() {
    let demo = serve(|_| {});
    let mut client = Client::new(demo.addr());
    let made = client.get(&width(50));
    let tag = made.header("etag").unwrap();
    let date = made.header("last-modified").unwrap();
    for header in [("If-None-Match", tag), ("If-Modified-Since", date)] {
        let again = client.send("GET", &width(50), &[header], b"");
        assert_eq!((again.status, again.body.len()), (304, 0), "{header:?}");
        assert_eq!(again.header("etag"), Some(tag));
    }
    let other = client.send("GET", &width(50), &[("If-None-Match", "\"other\"")], b"");
    assert_eq!(other.status, 200);
    let head = client.send("HEAD", &width(50), &[], b"");
    assert_eq!((head.status, head.header("x-cached-response")), (200, Some("HIT")));
    assert_eq!(head.header("content-length").unwrap(), made.body.len().to_string());
}

#[test]
fn formats_styles_and_facts() {
    let demo = serve(|_| {});
    let mut client = Client::new(demo.addr());
    for (name, content_type) in
        [("png", "image/png"), ("webp", "image/webp"), ("gif", "image/gif"), ("jpeg", "image/jpeg")]
    {
        let path = format!("/example.jpg?x-oss-process=image/resize,h_30/format,{name}");
        let answer = client.get(&path);
        assert_eq!(answer.header("content-type"), Some(content_type));
        assert_eq!(size(&answer.body), (40, 30), "{name}");
    }
    for path in
        ["/example.jpg!box100", "/example.jpg@!box100", "/example.jpg?x-oss-process=style/box100"]
    {
        assert_eq!(size(&client.get(path).body), (100, 100), "{path}");
    }
    let facts = client.get("/example.jpg?x-oss-process=image/info");
    assert_eq!(facts.header("content-type"), Some("application/json"));
    let facts = facts.json();
    assert_eq!(facts["Format"], json!({ "value": "jpg" }));
    assert_eq!(
        (&facts["ImageWidth"]["value"], &facts["ImageHeight"]["value"]),
        (&json!("240"), &json!("180"))
    );
    assert!(facts["FileSize"]["value"].as_str().unwrap().parse::<usize>().unwrap() > 1000);
}

#[test]
fn what_cannot_be_is_refused_in_the_references_form() {
    let demo = serve(|_| {});
    let mut client = Client::new(demo.addr());
    for (path, status, name) in [
        ("/example.jpg?x-oss-process=image/explode", 400, "BadRequestError"),
        ("/example.jpg?x-oss-process=image/resize,q_1", 400, "BadRequestError"),
        ("/example.jpg?x-oss-process=image/resize,w_0", 400, "BadRequestError"),
        (
            "/example.jpg?x-oss-process=image/resize,w_9000,limit_0,h_9000,m_fixed",
            400,
            "BadRequestError",
        ),
        ("/example.jpg?x-oss-process=video/snapshot", 400, "BadRequestError"),
        ("/example.jpg!", 400, "BadRequestError"),
        ("/example.jpg!none", 404, "NotFound"),
        ("/other.jpg?x-oss-process=image/info", 404, "NotFound"),
        ("/other?x-oss-process=image/info", 404, "NotFound"),
        ("/example.jpg", 403, "ForbiddenError"),
        ("/debug", 400, "BadRequestError"),
    ] {
        let answer = client.get(path);
        assert_eq!(answer.status, status, "{path}");
        let told = answer.json();
        assert_eq!((&told["status"], &told["name"]), (&json!(status), &json!(name)), "{path}");
        assert!(!told["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(client.post("/example.jpg", "").status, 405);
    assert_eq!(client.get("/images").status, 405);
    // Refusals are not kept.
    let stats = client.get("/_demo/stats").json();
    assert_eq!(stats["images"]["total"]["items"], 0);
}

#[test]
fn the_original_is_served_when_that_is_allowed() {
    let demo = serve(|image| image.allow_original = true);
    let mut client = Client::new(demo.addr());
    let original = client.get("/example.jpg");
    assert_eq!(original.status, 200);
    assert_eq!(size(&original.body), (240, 180));
    assert_eq!(client.get("/example.jpg").header("x-cached-response"), Some("HIT"));
}

#[test]
fn a_result_can_be_stored_and_worked_on() {
    let demo = serve(|_| {});
    let mut client = Client::new(demo.addr());
    let wish = json!({
        "params": "image/resize,w_60", "sourceBucket": "a", "sourceObject": "example.jpg",
        "targetBucket": "b", "targetObject": "small/one.jpg",
    });
    let mut save = |secret: &str, body: &serde_json::Value| {
        let secret = [("X-Client-Authorization", secret)];
        client.send("POST", "/images", &secret, body.to_string().as_bytes())
    };
    let saved = save("demo", &wish);
    assert_eq!((saved.status, saved.json()["saved"].as_str()), (200, Some("b/small/one.jpg")));
    assert_eq!(save("wrong", &wish).status, 400);
    for member in ["params", "sourceBucket", "sourceObject", "targetBucket", "targetObject"] {
        let mut part = wish.clone();
        part.as_object_mut().unwrap().remove(member);
        let refused = save("demo", &part);
        assert_eq!(refused.status, 400);
        assert!(refused.text().contains(member), "{}", refused.text());
    }
    let mut missing = wish.clone();
    missing["sourceObject"] = json!("none.jpg");
    assert_eq!(save("demo", &missing).status, 404);
    let path = "/small/one.jpg?x-oss-process=image/resize,w_20";
    let from = |client: &mut Client, bucket| client.send("GET", path, &[("x-bucket", bucket)], b"");
    assert_eq!(size(&from(&mut client, "b").body), (20, 15));
    assert_eq!(from(&mut client, "a").status, 404);
}

#[test]
fn more_than_threads_and_queue_hold_are_refused_at_once() {
    let demo = synthetic(|image| {
        image.no_cache = true;
        // All come while the first ones are made.
        image.cost = Duration::from_secs(1);
        image.retry_after = Some(2);
    });
    let answers = storm(demo.addr(), &width(100), 12);
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    // Two threads, one that may wait, one more because the limit is compared before joining.
    assert_eq!(good, 4);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!((refused.status, refused.text().as_str()), (429, BUSY));
        assert_eq!(refused.body.len(), 56);
        assert_eq!(refused.header("retry-after"), Some("2"));
        assert_eq!(refused.header("x-queue"), Some("2"));
    }
    assert!(answers.iter().any(|answer| phases(answer).contains(&"queue")));
    let total = &get(demo.addr(), "/_demo/stats").json()["images"]["total"];
    assert_eq!([&total["made"], &total["refused"]], [4, 8]);
    assert_eq!([&total["working"], &total["waiting"]], [0, 0]);
}

#[test]
fn without_retry_after_a_refusal_says_nothing_of_it() {
    let demo = synthetic(|image| {
        (image.threads, image.queue_limit) = (1, 0);
        image.cost = Duration::from_millis(300);
    });
    let answers = storm(demo.addr(), &width(100), 5);
    assert!(answers.iter().any(|answer| answer.status == 429));
    assert!(answers.iter().all(|answer| answer.header("retry-after").is_none()));
}

#[test]
fn all_who_miss_at_once_work_unless_they_fly_together() {
    let crowd = |single_flight| {
        let demo = synthetic(|image| {
            (image.threads, image.single_flight) = (8, single_flight);
            image.cost = Duration::from_secs(1);
        });
        let answers = storm(demo.addr(), &width(100), 6);
        assert!(answers.iter().all(|answer| answer.status == 200));
        let waited = answers.iter().filter(|a| a.header("x-cache") == Some("coalesced")).count();
        let total = &get(demo.addr(), "/_demo/stats").json()["images"]["total"];
        (total["made"].as_u64().unwrap(), waited)
    };
    assert_eq!(crowd(false), (6, 0));
    assert_eq!(crowd(true), (1, 5));
}

#[test]
fn instances_take_turns_and_warm_up_each_for_itself() {
    let demo = synthetic(|image| {
        image.instances = 3;
        image.cost = Duration::ZERO;
    });
    let mut client = Client::new(demo.addr());
    for said in ["miss", "hit", "hit"] {
        let mut round: Vec<String> = (0..3)
            .map(|_| {
                let answer = client.get(&width(100));
                assert_eq!(answer.header("x-cache"), Some(said));
                answer.header("x-instance").unwrap().to_owned()
            })
            .collect();
        round.sort();
        assert_eq!(round, ["0", "1", "2"]);
    }
    let stats = client.get("/_demo/stats").json();
    assert_eq!(stats["images"]["instances"].as_array().unwrap().len(), 3);
    assert_eq!(stats["images"]["instances"][2]["hit"], 2);
}

#[test]
fn what_is_too_old_is_made_again_and_items_are_limited() {
    let demo = synthetic(|image| {
        (image.cost, image.cache_ttl) = (Duration::ZERO, Duration::from_millis(1));
        image.cache_max_items = 2;
    });
    let mut client = Client::new(demo.addr());
    client.get(&width(100));
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(5) {
        client.get("/ping");
    }
    assert_eq!(client.get(&width(100)).header("x-cache"), Some("expired"));
    for w in 101..105 {
        client.get(&width(w));
    }
    let total = &client.get("/_demo/stats").json()["images"]["total"];
    assert_eq!([&total["items"], &total["evictions"], &total["expired"]], [2, 3, 1]);
}

#[test]
fn synthetic_bodies_tell_success_by_their_size() {
    let demo = synthetic(|image| image.cost = Duration::from_millis(1));
    let mut client = Client::new(demo.addr());
    let bytes: usize = (100..200).map(|w| client.get(&width(w)).body.len()).sum();
    assert_eq!(bytes, 325_200);
    assert_eq!(client.get("/example.jpg?x-oss-process=image/resize,w_0").status, 400);
}

#[test]
fn without_a_cache_nothing_is_kept() {
    let demo = synthetic(|image| (image.no_cache, image.cost) = (true, Duration::ZERO));
    let mut client = Client::new(demo.addr());
    for _ in 0..2 {
        assert_eq!(client.get(&width(100)).header("x-cache"), Some("miss"));
    }
    assert_eq!(client.get("/_demo/stats").json()["images"]["total"]["items"], 0);
}

#[test]
fn every_instance_sees_every_address_of_a_client_that_takes_turns() {
    let demo = synthetic(|image| {
        image.instances = 10;
        image.cost = Duration::ZERO;
    });
    let mut client = Client::new(demo.addr());
    for _ in 0..60 {
        (100..110).for_each(|w| assert_eq!(client.get(&width(w)).status, 200));
    }
    let stats = client.get("/_demo/stats").json();
    for instance in stats["images"]["instances"].as_array().unwrap() {
        assert_eq!(instance["items"], 10, "{instance}");
    }
}
