//! The tools that the questions share: settings, scripts, the programs that are asked.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use crate::client::Client;
use crate::settings::Settings;

/// The scripts, as they stand in `bench/scripts`.
const SCRIPTS: &[(&str, &str)] = &[
    ("get.js", include_str!("../scripts/get.js")),
    ("compare.js", include_str!("../scripts/compare.js")),
    ("many.js", include_str!("../scripts/many.js")),
    ("many_library.js", include_str!("../scripts/many_library.js")),
    ("javascript.js", include_str!("../scripts/javascript.js")),
    ("html.js", include_str!("../scripts/html.js")),
    ("lateness.js", include_str!("../scripts/lateness.js")),
    ("stalled.js", include_str!("../scripts/stalled.js")),
    ("bodies.js", include_str!("../scripts/bodies.js")),
    ("formdata.js", include_str!("../scripts/formdata.js")),
    ("fasthttp.js", include_str!("../scripts/fasthttp.js")),
    ("grpc.js", include_str!("../scripts/grpc.js")),
    ("upload.js", include_str!("../scripts/upload.js")),
    ("series.js", include_str!("../scripts/series.js")),
    ("shared.js", include_str!("../scripts/shared.js")),
    ("streams.js", include_str!("../scripts/streams.js")),
    ("websocket.js", include_str!("../scripts/websocket.js")),
];

/// The tools of every figure.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) settings: Settings,
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(settings: Settings) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("a folder for the scripts")?;
        for (name, text) in SCRIPTS {
            fs::write(folder.path().join(name), text)?;
        }
        Ok(Self { settings, folder })
    }

    /// The path of a script; other files for it can be put beside.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program of a client, if it is there.
    pub(crate) fn program(&self, client: Client) -> Option<PathBuf> {
        match client {
            Client::Brunt => Some(self.settings.brunt.clone()),
            Client::K6 => self.settings.k6.clone(),
            _ => client.find(),
        }
    }

    /// The scripted clients that are there.
    pub(crate) fn scripted(&self) -> Vec<(Client, PathBuf)> {
        [Client::Brunt, Client::K6]
            .into_iter()
            .filter_map(|client| Some((client, self.program(client)?)))
            .collect()
    }

    /// The measured programs by version; missing ones with the command that gets them.
    pub(crate) fn versions(&self) -> Vec<String> {
        Client::ALL
            .map(|client| {
                let Some(program) = self.program(client) else {
                    return missing(client);
                };
                let flag = match client {
                    Client::K6 | Client::Brunt => "version",
                    Client::Wrk => "-v",
                    Client::Vegeta => "-version",
                    _ => "--version",
                };
                let said = Command::new(program)
                    .arg(flag)
                    .output()
                    .map(|output| [output.stdout, output.stderr].concat());
                let said = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
                let line =
                    said.lines().find(|line| !line.trim().is_empty()).unwrap_or("?").to_owned();
                if line.contains(client.name()) {
                    line
                } else {
                    format!("{} {line}", client.name())
                }
            })
            .to_vec()
    }
}

/// A row's or line's word for a client that is not there.
pub(crate) fn missing(client: Client) -> String {
    format!("{}: not found (`{}`)", client.name(), client.remedy())
}
