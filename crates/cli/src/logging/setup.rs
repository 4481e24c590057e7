//! Reads `--log-output`.

use std::str::FromStr;

use log::LevelFilter;

use super::{Output, loki::LokiConfig};

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stderr" => return Ok(Self::Stderr),
            "stdout" => return Ok(Self::Stdout),
            "none" => return Ok(Self::None),
            _ => {}
        }
        if let Some(rest) = text.strip_prefix("loki")
            && (rest.is_empty() || rest.starts_with('='))
        {
            return LokiConfig::parse(rest.trim_start_matches('=')).map(Output::Loki);
        }
        let Some(rest) = text.strip_prefix("file=") else {
            return Err(format!(
                "unsupported log output '{text}': use stderr, stdout, none, loki[=URL] or file=PATH[,level=LEVEL]"
            ));
        };
        let mut parts = rest.split(',');
        let path = parts.next().unwrap_or_default();
        if path.is_empty() {
            return Err("--log-output=file= needs a path".to_owned());
        }
        let mut level = LevelFilter::Trace;
        for part in parts {
            level = match part.split_once('=') {
                Some(("level", word)) => parse_level(word)?,
                _ => return Err(format!("unknown setting '{part}' of --log-output=file")),
            };
        }
        Ok(Self::File { path: path.into(), level })
    }
}

pub(super) fn parse_level(word: &str) -> Result<LevelFilter, String> {
    Ok(match word.to_ascii_lowercase().as_str() {
        "panic" | "fatal" | "error" => LevelFilter::Error,
        "warn" | "warning" => LevelFilter::Warn,
        "info" => LevelFilter::Info,
        "debug" => LevelFilter::Debug,
        "trace" => LevelFilter::Trace,
        _ => {
            return Err(format!(
                "unknown log level '{word}': use error, warning, info, debug or trace"
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_a_level() {
        assert_eq!(
            "file=/x/y.log,level=warning".parse(),
            Ok(Output::File { path: "/x/y.log".into(), level: LevelFilter::Warn })
        );
        assert_eq!(
            "file=y".parse(),
            Ok(Output::File { path: "y".into(), level: LevelFilter::Trace })
        );
    }

    #[test]
    fn what_is_unknown_is_named() {
        for (text, part) in [
            ("syslog", "unsupported log output 'syslog'"),
            ("loki=http://127.0.0.1,x=1", "unknown loki config key x"),
            ("file=", "needs a path"),
            ("file=x,level=loud", "'loud'"),
            ("file=x,size=1", "'size=1'"),
        ] {
            let error = text.parse::<Output>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
