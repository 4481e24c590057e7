//! Both servers start, answer, come back, and leave nothing.

use brunt_databases::Server;

fn answers(mut server: Server) {
    server.run("shop", "CREATE TABLE t (a INT); INSERT INTO t VALUES (41), (1);");
    assert_eq!(server.run("shop", "SELECT SUM(a), 'b' FROM t;"), "42\tb");
    server.restart();
    assert_eq!(server.run("shop", "SELECT 1;"), "1");
    assert!(server.socket().exists() && server.url("shop").contains("pass%20word%2F1@127.0.0.1:"));
    let port = server.port();
    server.kill();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "it still listens");
}

#[test]
fn a_mariadb() {
    answers(Server::mariadb(&["--max-connections=7"]));
}

#[test]
fn a_postgres() {
    answers(Server::postgres(&["max_connections=7"]));
}
