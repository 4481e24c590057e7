//! `mysql://user:password@host:3306/database?ssl-mode=REQUIRED`, `mariadb://…`.

use super::dsn::{self, tcp};
use super::escape::undone;
use super::param;
use super::settings::{Address, Settings};
use crate::config::Outside;

/// The part behind the scheme, if it is a URL for this driver.
pub(super) fn rest(text: &str) -> Option<&str> {
    ["mysql://", "mariadb://"].into_iter().find_map(|scheme| {
        let start = text.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
    })
}

/// Reads it. The error does not have the password in it.
pub(super) fn read(rest: &str, outside: &dyn Outside) -> Result<Settings, String> {
    let (place, params) = rest.split_once('?').unwrap_or((rest, ""));
    let params = params.split('#').next().unwrap_or_default();
    // Some tools write a DSN of the Go driver behind a scheme.
    let behind_login = place.rsplit_once('@').map_or(place, |(_, network)| network);
    if ["tcp(", "tcp4(", "tcp6(", "unix("].iter().any(|name| behind_login.starts_with(name)) {
        return dsn::read(rest, outside);
    }
    let mut settings = Settings::default();
    let (login, place) = match place.rsplit_once('@') {
        Some((login, place)) => (Some(login), place),
        None => (None, place),
    };
    if let Some(login) = login {
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        settings.user = undone(user, false).map_err(|why| format!("invalid URL: user: {why}"))?;
        settings.password = undone(password, false)
            .map_err(|_| "invalid URL: password: invalid URL escape: write % as %25".to_owned())?;
    }
    let (address, database) = place.split_once('/').unwrap_or((place, ""));
    if login.is_none() && matches!(tcp(address), Address::Nowhere(_)) {
        // The password may be in the place of the port.
        return Err("invalid URL: the port is no number".to_owned());
    }
    let address = undone(address, false)?;
    settings.address = match address.as_str() {
        "" => Settings::default().address,
        path if path.starts_with('/') => Address::Unix(path.to_owned()),
        address => tcp(address),
    };
    settings.database =
        undone(database, false).map_err(|why| format!("invalid dbname {database:?}: {why}"))?;
    for pair in params.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
        param::set(&mut settings, &undone(name, true)?, &undone(value, true)?, outside)?;
    }
    param::check(&settings)?;
    Ok(settings)
}
