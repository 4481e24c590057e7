//! The server that all clients load: nginx with one worker, plain and over TLS 1.3.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::process::{self, Guard};
use crate::settings::find;

/// A running nginx; stopped when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    _child: Guard,
    _folder: tempfile::TempDir,
    plain: u16,
    tls: u16,
    http2: u16,
}

/// How the server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Plain,
    /// HTTP/1.1 over TLS 1.3.
    Tls,
    /// HTTP/2 over TLS 1.3.
    Http2,
}

impl Server {
    /// Starts it, on one core if asked, and waits until it answers.
    ///
    /// # Errors
    /// If nginx or openssl is missing, or it does not answer within five seconds.
    pub(crate) fn start(core: Option<usize>) -> anyhow::Result<Self> {
        let nginx = find("nginx").context("nginx not found: `apt-get install nginx-light`")?;
        let folder = tempfile::tempdir()?;
        certificate(folder.path())?;
        let (plain, tls, http2) = (free_port()?, free_port()?, free_port()?);
        fs::write(folder.path().join("nginx.conf"), config(folder.path(), plain, tls, http2))?;
        let mut command = process::command(&nginx, core);
        command.arg("-p").arg(folder.path()).arg("-c").arg(folder.path().join("nginx.conf"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = Guard(command.spawn().context("starting nginx")?);
        let deadline = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(("127.0.0.1", tls)).is_err() {
            if Instant::now() > deadline {
                let log = fs::read_to_string(folder.path().join("error.log")).unwrap_or_default();
                bail!("nginx does not answer:\n{}", process::tail(&log));
            }
            process::pause(Duration::from_millis(10));
        }
        Ok(Self { _child: child, _folder: folder, plain, tls, http2 })
    }

    /// The address to load.
    pub(crate) fn url(&self, speech: Speech) -> String {
        match speech {
            Speech::Plain => format!("http://127.0.0.1:{}/", self.plain),
            Speech::Tls => format!("https://127.0.0.1:{}/", self.tls),
            Speech::Http2 => format!("https://127.0.0.1:{}/", self.http2),
        }
    }
}

/// The port is free now; on a quiet machine no other process takes it before nginx does.
fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn certificate(folder: &Path) -> anyhow::Result<()> {
    let openssl = find("openssl").context("openssl not found: `apt-get install openssl`")?;
    let made = Command::new(openssl)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .arg("-keyout")
        .arg(folder.join("key.pem"))
        .arg("-out")
        .arg(folder.join("cert.pem"))
        .output()
        .context("starting openssl")?;
    if !made.status.success() {
        bail!("openssl made no certificate:\n{}", String::from_utf8_lossy(&made.stderr));
    }
    Ok(())
}

/// One process, no logs, connections that live as long as their clients.
fn config(folder: &Path, plain: u16, tls: u16, http2: u16) -> String {
    let folder = folder.display();
    format!(
        r#"daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile 19000;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 18000; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_timeout 3600s;
    keepalive_requests 1000000000;
    server {{
        listen 127.0.0.1:{plain} backlog=16384 reuseport;
        listen 127.0.0.1:{tls} ssl backlog=16384 reuseport;
        listen 127.0.0.1:{http2} ssl http2 backlog=16384 reuseport;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_protocols TLSv1.3;
        location / {{
            default_type text/plain;
            return 200 "hello, world\n";
        }}
    }}
}}
"#
    )
}
