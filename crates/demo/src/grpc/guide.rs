//! `hello.HelloService`, `main.FeatureExplorer`, `main.RouteGuide`: methods of all four kinds.

use prost::Message;

use super::call::{Call, Status};

#[derive(Clone, PartialEq, Message)]
struct HelloRequest {
    #[prost(string, tag = "1")]
    greeting: String,
}

#[derive(Clone, PartialEq, Message)]
struct HelloResponse {
    #[prost(string, tag = "1")]
    reply: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Point {
    #[prost(int32, tag = "1")]
    latitude: i32,
    #[prost(int32, tag = "2")]
    longitude: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Rectangle {
    #[prost(message, optional, tag = "1")]
    lo: Option<Point>,
    #[prost(message, optional, tag = "2")]
    hi: Option<Point>,
}

#[derive(Clone, PartialEq, Message)]
struct Feature {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    location: Option<Point>,
}

#[derive(Clone, PartialEq, Message)]
struct RouteNote {
    #[prost(message, optional, tag = "1")]
    location: Option<Point>,
    #[prost(string, tag = "2")]
    message: String,
}

#[derive(Clone, PartialEq, Message)]
struct RouteSummary {
    #[prost(int32, tag = "1")]
    point_count: i32,
    #[prost(int32, tag = "2")]
    feature_count: i32,
    #[prost(int32, tag = "3")]
    distance: i32,
    #[prost(int32, tag = "4")]
    elapsed_time: i32,
}

/// Notes that one chat keeps; the oldest are forgotten first.
const NOTES_MAX: usize = 1000;

/// Name, latitude and longitude.
const FEATURES: &[(&str, i32, i32)] = &[
    ("Lighthouse", 596_120_450, 106_631_200),
    ("Old Mill", 598_804_310, 107_452_980),
    ("Ferry Pier", 599_033_770, 107_221_640),
    ("Orchard Gate", 597_460_080, 104_990_350),
    ("Weather Station", 600_271_930, 106_690_110),
    ("Stone Bridge", 599_185_240, 107_548_870),
    ("Railway Museum", 607_908_420, 110_953_300),
    ("Quarry", 595_338_690, 102_774_510),
    ("Market Square", 599_127_560, 107_486_030),
    ("Water Tower", 598_247_150, 108_306_720),
];

pub(super) async fn answer(call: &mut Call, service: &str, method: &str) -> Result<(), Status> {
    match method {
        "SayHello" => {
            let request: HelloRequest = call.only().await?;
            call.send(&hello(&request)).await
        }
        "LotsOfReplies" => {
            let request: HelloRequest = call.only().await?;
            for _ in 0..10 {
                call.send(&hello(&request)).await?;
            }
            Ok(())
        }
        "LotsOfGreetings" => {
            let mut greetings = Vec::new();
            while let Some(request) = call.next::<HelloRequest>().await? {
                greetings.push(request.greeting);
                if greetings.len() > NOTES_MAX {
                    return Err(Status::new(8, "that is too much kindness"));
                }
            }
            call.send(&hello(&HelloRequest { greeting: greetings.join(", ") })).await
        }
        "BidiHello" => {
            while let Some(request) = call.next::<HelloRequest>().await? {
                call.send(&hello(&request)).await?;
            }
            call.begin()
        }
        "GetFeature" => {
            let point: Point = call.only().await?;
            call.send(&feature(point)).await
        }
        "ListFeatures" => {
            let Rectangle { lo, hi } = call.only().await?;
            let (lo, hi) = (lo.unwrap_or_default(), hi.unwrap_or_default());
            for &(name, latitude, longitude) in FEATURES {
                let is_inside = between(latitude, lo.latitude, hi.latitude)
                    && between(longitude, lo.longitude, hi.longitude);
                if is_inside {
                    let location = Some(Point { latitude, longitude });
                    call.send(&Feature { name: name.to_owned(), location }).await?;
                }
            }
            call.begin()
        }
        "RecordRoute" => record(call).await,
        "RouteChat" => chat(call).await,
        _ => Err(Status::unimplemented(service, method)),
    }
}

fn hello(request: &HelloRequest) -> HelloResponse {
    let to = if request.greeting.is_empty() { "there" } else { &request.greeting };
    HelloResponse { reply: format!("hello {to}") }
}

fn between(value: i32, one: i32, other: i32) -> bool {
    (one.min(other)..=one.max(other)).contains(&value)
}

fn feature(point: Point) -> Feature {
    let here = |place: &&(&str, i32, i32)| (place.1, place.2) == (point.latitude, point.longitude);
    let name = FEATURES.iter().find(here).map_or("", |place| place.0);
    Feature { name: name.to_owned(), location: Some(point) }
}

async fn record(call: &mut Call) -> Result<(), Status> {
    let began = tokio::time::Instant::now();
    let mut summary = RouteSummary::default();
    let mut last: Option<Point> = None;
    let mut metres = 0.0;
    while let Some(point) = call.next::<Point>().await? {
        summary.point_count += 1;
        summary.feature_count += i32::from(!feature(point).name.is_empty());
        if let Some(last) = last {
            metres += distance(last, point);
        }
        last = Some(point);
    }
    summary.distance = metres as i32;
    summary.elapsed_time = began.elapsed().as_secs() as i32;
    call.send(&summary).await
}

/// Metres between two points, on a ball.
fn distance(one: Point, other: Point) -> f64 {
    let radians = |degrees: i32| (f64::from(degrees) / 1e7).to_radians();
    let (lat1, lat2) = (radians(one.latitude), radians(other.latitude));
    let (dlat, dlon) = (lat2 - lat1, radians(other.longitude) - radians(one.longitude));
    let a = (dlat / 2.0).sin().powi(2) + lat1.cos() * lat2.cos() * (dlon / 2.0).sin().powi(2);
    6_371_000.0 * 2.0 * a.sqrt().atan2((1.0 - a).sqrt())
}

async fn chat(call: &mut Call) -> Result<(), Status> {
    let mut notes: Vec<RouteNote> = Vec::new();
    while let Some(note) = call.next::<RouteNote>().await? {
        let place = note.location;
        if notes.len() >= NOTES_MAX {
            notes.remove(0);
        }
        notes.push(note);
        for note in notes.iter().filter(|note| note.location == place) {
            call.send(note).await?;
        }
    }
    call.begin()
}
