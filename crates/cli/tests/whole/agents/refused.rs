//! Servers, scripts and agents that can't be used: each is refused with what is wrong and what to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use super::fleet::{Agent, Nats, leader, wait_for_requests};
use super::{LONG, STAGED, script};
use crate::support::{DemoServer, brunt};

/// Makes the stream of frames with room for next to nothing.
fn fill(nats: &Nats) {
    let mut stream = TcpStream::connect(nats.address()).expect("it listens");
    let config = "{\"name\":\"BRUNT_FRAMES\",\"subjects\":[\"brunt.*.f.*\"],\"max_bytes\":1000,\"discard\":\"new\",\
        \"storage\":\"file\",\"retention\":\"limits\",\"num_replicas\":1}";
    let subject = "$JS.API.STREAM.CREATE.BRUNT_FRAMES";
    let line = format!(
        "CONNECT {{}}\r\nSUB answer 1\r\nPUB {subject} answer {}\r\n{config}\r\n",
        config.len()
    );
    stream.write_all(line.as_bytes()).expect("it reads");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let answer = lines.find(|line| line.contains("stream_create_response")).expect("an answer");
    assert!(!answer.contains("\"error\""), "{answer}");
}

#[test]
fn a_store_without_room_is_told_at_the_start_and_in_the_middle() {
    let demo = DemoServer::start();
    let small = Nats::start_with(&[], "jetstream { max_file_store: 1000000 }\n");
    let told = leader(&small, &demo, 1, &script(STAGED), "").told();
    assert_eq!(told.code, 112, "{told:?}");
    let error = told.error();
    assert!(error.contains("the stream BRUNT_FRAMES can't be used"), "{error}");
    assert!(error.contains("insufficient storage"), "{error}");

    let full = Nats::start();
    fill(&full);
    let agent = Agent::start(&full, "");
    let mut call = leader(&full, &demo, 1, &script(LONG), "");
    let running = call.start();
    wait_for_requests(&demo, 160);
    agent.kill();
    let told = agent.wait();
    assert!(told.error().contains("the NATS server has no room for measurements"), "{told:?}");
    running.signal("KILL");
    drop(running.wait());
}

/// A server that says that it is of this version, and answers pings.
fn server_of(version: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut to = stream.try_clone().expect("a second handle");
            let info = format!(
                "INFO {{\"server_id\":\"OLD\",\"version\":\"{version}\",\"proto\":1,\"host\":\"127.0.0.1\",\
                 \"port\":{},\"headers\":true,\"max_payload\":1048576,\"jetstream\":true}}\r\n",
                address.port()
            );
            // The client may be gone.
            drop(to.write_all(info.as_bytes()));
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if line.starts_with("PING") {
                    drop(to.write_all(b"PONG\r\n"));
                }
            }
        }
    });
    format!("nats://{address}")
}

#[test]
fn a_server_that_is_too_old_is_named() {
    let old = server_of("2.9.25");
    for line in ["run --agents 1 s.js", "agent --once"] {
        let told = brunt(&format!("{line} --nats {old}"))
            .file("s.js", "export default function () {}")
            .told();
        assert_eq!(told.code, 112, "{told:?}");
        let error = told.error();
        assert!(
            error.contains("the NATS server is 2.9.25, and 2.10 or newer is needed"),
            "{error}"
        );
    }
}

#[test]
fn a_run_id_has_one_leader_and_one_script() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agent = Agent::start(&nats, "--run-id one");
    let mut call = leader(&nats, &demo, 1, &script(LONG), "--run-id one");
    let running = call.start();
    wait_for_requests(&demo, 10);
    // The same script at the same time.
    let told = leader(&nats, &demo, 1, &script(LONG), "--run-id one").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("leads this run: choose another --run-id"), "{told:?}");
    running.signal("KILL");
    drop(running.wait());
    // Another script, when the first leader is gone.
    let told = leader(&nats, &demo, 1, &script(STAGED), "--run-id one").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("belongs to a test with another script"), "{told:?}");
    agent.kill();
}

#[test]
fn an_archive_of_more_than_a_gibibyte_is_refused_before_it_is_sent() {
    let nats = Nats::start();
    let mut call = brunt(&format!("run --agents 1 --nats {} s.js", nats.url()))
        .file("s.js", "const data = open('data.bin', 'b');\nexport default function () {}\n");
    // Without any content: the disk has no part of it.
    let file = std::fs::File::create(call.path("data.bin")).expect("a file for the test");
    file.set_len((1 << 30) + 1).expect("a file for the test");
    let told = call.told();
    assert_eq!(told.code, 104, "{told:?}");
    assert!(told.error().contains("1 GiB is the limit"), "{told:?}");
    assert!(!nats.has_stream("OBJ_brunt_files"), "something was sent");
}
