//! The settings of the image handler. Each field's comment begins with the flag that sets it.

use std::time::Duration;

/// All settings of the image handler. [`Default`] is a small one: a single instance with two threads
/// and the reference's cache and queue.
#[derive(Debug, Clone)]
pub struct ImageConfig {
    /// `--instances N`: simulated instances behind one load balancer, 1 to 64, each with its own
    /// cache, queue and threads; requests go to them in turn (default 1).
    pub instances: u32,
    /// `--threads N`: images that one instance works on at once, 1 to 64 (default 2).
    pub threads: usize,
    /// `--queue-limit N`: a miss is answered by 429 when more than N images wait for a thread (default 1).
    pub queue_limit: usize,
    /// `--retry-after SECONDS`: send `Retry-After` with a 429 (default: none, as the reference).
    pub retry_after: Option<u32>,

    /// `--no-cache`: answer nothing from memory.
    pub no_cache: bool,
    /// `--cache-ttl DURATION`: how long an answer is kept (default 300s).
    pub cache_ttl: Duration,
    /// `--cache-max-items N`: answers that one instance keeps at most (default 10000).
    pub cache_max_items: usize,
    /// `--cache-max-bytes SIZE`: bytes of bodies and keys that one instance keeps at most (default
    /// 1 GiB).
    pub cache_max_bytes: usize,
    /// `--single-flight`: who asks for what is being made waits for it. The reference has no such
    /// thing: each miss is processed.
    pub single_flight: bool,

    /// `--synthetic`: hold a thread for `cost` in place of real work, and answer bytes whose number
    /// depends on the width. The same everywhere, whatever the machine.
    pub synthetic: bool,
    /// `--cpu DURATION`: what a synthetic image costs (default 10ms).
    pub cost: Duration,
    /// `--example-size WxH`: size of the built-in `example.jpg` (default 1440x1080).
    pub example_size: (u32, u32),
    /// `--allow-original`: serve an object as it is when no action is asked for (default: 403).
    pub allow_original: bool,
    /// `--image-secret TEXT`: what `X-Client-Authorization` must say to `POST /images` (default
    /// `demo`).
    pub secret: String,
}

/// The maximum number of instances, and of threads of each.
const MANY: u32 = 64;
/// Pixels of the largest example: what decoding it may take is three bytes for each.
const EXAMPLE_PIXELS_MAX: u64 = 16 << 20;

impl Default for ImageConfig {
    fn default() -> Self {
        Self {
            instances: 1,
            threads: 2,
            queue_limit: 1,
            retry_after: None,
            no_cache: false,
            cache_ttl: Duration::from_mins(5),
            cache_max_items: 10_000,
            cache_max_bytes: 1 << 30,
            single_flight: false,
            synthetic: false,
            cost: Duration::from_millis(10),
            example_size: (1440, 1080),
            allow_original: false,
            secret: "demo".to_owned(),
        }
    }
}

impl ImageConfig {
    /// The first setting that makes no sense, as a sentence.
    pub(crate) fn complaint(&self) -> Option<String> {
        if !(1..=MANY).contains(&self.instances) {
            return Some(format!("--instances: {} is not from 1 to {MANY}", self.instances));
        }
        if !(1..=MANY as usize).contains(&self.threads) {
            return Some(format!("--threads: {} is not from 1 to {MANY}", self.threads));
        }
        let (width, height) = self.example_size;
        let pixels = u64::from(width) * u64::from(height);
        if width < 16 || height < 16 || pixels > EXAMPLE_PIXELS_MAX {
            return Some(format!(
                "--example-size: {width}x{height} is not from 16x16 to 16 million pixels"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_names_flag_and_value() {
        let config = ImageConfig { threads: 0, ..ImageConfig::default() };
        assert_eq!(config.complaint().as_deref(), Some("--threads: 0 is not from 1 to 64"));
        let config = ImageConfig { example_size: (9, 900), ..ImageConfig::default() };
        assert!(config.complaint().unwrap().contains("9x900"));
        assert_eq!(ImageConfig::default().complaint(), None);
    }
}
