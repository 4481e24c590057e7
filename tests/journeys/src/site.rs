//! Servers on loopback, an application behind them, and its truth.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use brunt_demo::{Demo, DemoConfig, DemoHandle, FormConfig};
use tokio::sync::watch;

use crate::app::{Make, Shared, Truth, lock};
use crate::{serve, wire};

/// An application and its servers, which end when this is dropped.
#[derive(Debug)]
pub struct Site {
    /// Where it is, without a slash at the end.
    pub origins: Vec<String>,
    kind: Kind,
}

enum Kind {
    Ours { app: Shared, make: Make, halt: watch::Sender<bool>, thread: Option<JoinHandle<()>> },
    // Kept for its end.
    Demo { _demo: DemoHandle },
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ours { .. } => "Ours",
            Self::Demo { .. } => "Demo",
        })
    }
}

impl Site {
    /// Starts an application with this number of origins.
    pub fn start(make: Make, origins: usize, seed: u64) -> Self {
        let listen = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let listeners: Vec<_> = (0..origins).map(listen).collect();
        let origin = |listener: &TcpListener| {
            format!("http://{}", listener.local_addr().expect("a bound listener has an address"))
        };
        let origins: Vec<String> = listeners.iter().map(origin).collect();
        let app: Shared = Arc::new(Mutex::new(make(seed, &origins)));
        let (halt, halted) = watch::channel(false);
        let served = app.clone();
        let thread = std::thread::spawn(move || serve::run(listeners, &served, halted));
        Self { origins, kind: Kind::Ours { app, make, halt, thread: Some(thread) } }
    }

    /// Starts the form application of the demo target.
    pub fn demo(forms: FormConfig, seed: u64) -> Self {
        let config = DemoConfig {
            forms,
            seed: Some(seed),
            faults_listen: None,
            grpc_listen: None,
            ..DemoConfig::fast()
        };
        let demo = Demo::start(config).expect("the demo target starts on free ports");
        Self { origins: vec![demo.url()], kind: Kind::Demo { _demo: demo } }
    }

    /// Begins anew at the same address: no session, no token and no object is left.
    pub fn renew(&self, seed: u64) {
        match &self.kind {
            Kind::Ours { app, make, .. } => *lock(app) = make(seed, &self.origins),
            Kind::Demo { .. } => {
                wire::simple("POST", &format!("{}/_demo/reset", self.origins[0]));
            }
        }
    }

    /// The count of what it saw since it began.
    pub fn truth(&self) -> Truth {
        match &self.kind {
            Kind::Ours { app, .. } => lock(app).truth().clone(),
            Kind::Demo { .. } => demo_truth(&self.origins[0]),
        }
    }
}

/// The count of what the form application of a demo target saw, by the target's URL.
///
/// # Panics
/// If there is no demo target.
pub fn demo_truth(url: &str) -> Truth {
    let text = wire::simple("GET", &format!("{url}/_demo/stats"));
    let stats: serde_json::Value = serde_json::from_slice(&text).expect("the statistics are JSON");
    let forms = &stats["forms"];
    let mut truth = Truth {
        done: forms["journeys"]["done"].as_u64().unwrap_or_default() as usize,
        refused: Vec::new(),
    };
    let tokens = forms["tokens"]["refused"].as_object().into_iter().flatten();
    let others = ["wrong_passwords", "no_session", "stale_versions"];
    let others = others.into_iter().map(|name| (name, &forms[name]));
    for (why, count) in tokens.map(|(name, count)| (name.as_str(), count)).chain(others) {
        let count = count.as_u64().unwrap_or_default();
        truth.refused.extend((0..count).map(|_| why.to_owned()));
    }
    truth
}

impl Drop for Kind {
    fn drop(&mut self) {
        if let Self::Ours { halt, thread, .. } = self {
            // Both fail if the thread has ended, which is what we want.
            let _ = halt.send(true);
            let _ = thread.take().map(JoinHandle::join);
        }
    }
}
