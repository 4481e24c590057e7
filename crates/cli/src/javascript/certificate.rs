//! Whether the certificates of `tlsAuth` can be used, seen as soon as the script is loaded: by `inspect` and `archive` too.

use brunt_net::{Network, Settings, SettingsError};
use brunt_options::{Layer, Options, TlsAuth};
use brunt_script::OptionPlace;

use super::Loaded;
use crate::{
    diagnostic::Diagnostic,
    exit::Exit,
    failure::{Failure, Outcome},
    run::host::Script as _,
};

/// Checks them.
///
/// # Errors
/// An unreadable certificate or key, a pair that does not fit, a password for a key that has none (104).
pub(super) fn check(script: &Loaded) -> Outcome<()> {
    // Other faults of the options are told later, all at once.
    let (parsed, _) = Options::read_json(script.options(), Layer::Script);
    let entries = parsed.options.tls_auth.unwrap_or_default();
    if entries.is_empty() {
        return Ok(());
    }
    let mut settings = Settings::default();
    settings.tls.auth = entries.iter().map(super::config::tls_auth).collect();
    let Err(error) = Network::check(&settings) else { return Ok(()) };
    let SettingsError::Auth { index, problem, .. } = &error else { return Ok(()) };
    let is_cert = problem.starts_with("cert ");
    let file = entries.get(*index).and_then(|entry| file_of(script, entry, is_cert));
    let path = format!("tlsAuth[{index}].{}", if is_cert { "cert" } else { "key" });
    let error = anyhow::Error::new(error);
    let failure = Failure::new(
        Exit::InvalidConfig,
        match file {
            Some(file) => error.context(file),
            None => error,
        },
    );
    let place = script.url().and_then(|url| {
        let place = OptionPlace::in_script(script.text(), &path)?;
        Some(Diagnostic {
            url: url.to_owned(),
            line: place.line,
            column: place.column,
            length: place.length,
            text: Some(place.source_line),
            ..Diagnostic::default()
        })
    });
    Err(match place {
        Some(place) => failure.at(place),
        None => failure,
    })
}

/// The file that the script opened for it, if its whole content is the certificate or the key.
fn file_of(script: &Loaded, entry: &TlsAuth, is_cert: bool) -> Option<String> {
    let text = if is_cert { &entry.cert } else { &entry.key };
    let opened = script.program().files().all();
    let is_it = |bytes: &[u8]| bytes == text.as_bytes();
    let (path, _) = opened.iter().find(|(_, bytes)| is_it(bytes.as_slice()))?;
    Some(path.display().to_string())
}
