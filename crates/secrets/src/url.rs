//! The source `url`: a server that tells secrets. One thread asks it, one question after the other; what was answered
//! once is remembered for the run.

pub(crate) mod config;
mod path;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use brunt_http::{
    Body, Client, Headers, Network, OwnedTarget, Request, Settings, Target, TargetError, clock,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::config::Config;
use crate::SecretError;

/// Questions that wait; the next one is refused.
const QUEUE: usize = 10_000;

/// The most bytes of an answer.
const ANSWER_MAX: u64 = 1 << 20;

/// Answers that are remembered; what comes after is asked for each time.
const KNOWN_MAX: usize = 10_000;

/// The longest wait between two tries.
const BACKOFF_MAX: Duration = Duration::from_mins(1);

type Told = Result<String, SecretError>;

type Question = (String, oneshot::Sender<Told>);

/// Whom to ask. The thread begins with the first question.
#[derive(Debug)]
pub(crate) struct Asker {
    config: Config,
    questions: OnceLock<Result<mpsc::Sender<Question>, String>>,
}

impl Asker {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, questions: OnceLock::new() }
    }

    pub(crate) fn ask(&self, name: &str) -> oneshot::Receiver<Told> {
        let (tell, told) = oneshot::channel();
        let questions = self.questions.get_or_init(|| start(self.config.clone()));
        match questions {
            Ok(questions) => {
                if let Err(refused) = questions.try_send((name.to_owned(), tell)) {
                    let message = match &refused {
                        mpsc::error::TrySendError::Full(_) => {
                            "too many secrets are asked for at once"
                        }
                        mpsc::error::TrySendError::Closed(_) => "the source has stopped",
                    };
                    let (_, tell) = refused.into_inner();
                    let _ = tell.send(Err(SecretError::Refused(message.to_owned())));
                }
            }
            Err(error) => drop(tell.send(Err(SecretError::Refused(error.clone())))),
        }
        told
    }
}

fn start(config: Config) -> Result<mpsc::Sender<Question>, String> {
    let (send, receive) = mpsc::channel(QUEUE);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    std::thread::Builder::new()
        .name("brunt-secrets".to_owned())
        .spawn(move || runtime.block_on(answer(config, receive)))
        .map_err(|error| error.to_string())?;
    Ok(send)
}

async fn answer(config: Config, mut questions: mpsc::Receiver<Question>) {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut pace = Pace::new(&config);
    let network = match Network::new(Settings::default(), clock::now) {
        Ok(network) => network,
        Err(error) => {
            log::error!("secrets cannot be asked for: {error}");
            return;
        }
    };
    let client = Rc::new(Client::new(network, None));
    while let Some((name, tell)) = questions.recv().await {
        let told = if let Some(value) = known.get(&name) {
            Ok(value.clone())
        } else {
            let told = fetch(&config, &client, &mut pace, &name).await;
            if let Ok(value) = &told
                && known.len() < KNOWN_MAX
            {
                known.insert(name, value.clone());
            }
            told
        };
        let _ = tell.send(told);
    }
}

/// The limit of requests a minute, with a few of them at once.
struct Pace {
    /// Between two requests in the long run.
    every: Duration,
    burst: u32,
    /// When the bucket would be full.
    full_at: Instant,
}

impl Pace {
    fn new(config: &Config) -> Self {
        let every = Duration::from_mins(1) / config.per_minute.max(1);
        Self { every, burst: config.burst.max(1), full_at: Instant::now() }
    }

    async fn turn(&mut self) {
        let room = self.every * (self.burst - 1);
        let due = self.full_at.checked_sub(room).unwrap_or(self.full_at);
        tokio::time::sleep_until(due).await;
        self.full_at = self.full_at.max(Instant::now()) + self.every;
    }
}

/// The outcome of one try.
enum Tried {
    Told(String),
    /// Another try may help.
    Busy(String),
    Refused(SecretError),
}

async fn fetch(config: &Config, client: &Client, pace: &mut Pace, name: &str) -> Told {
    let refused = |why: String| Err(SecretError::Refused(why));
    let url = config.template.replace("{key}", &escaped(name));
    let target = match Target::parse(&url) {
        Ok(target) => target.to_owned_target(),
        Err(TargetError::Invalid(error)) => return refused(error.of(&url)),
        Err(TargetError::Unreachable(failure)) => return refused(failure.to_string()),
    };
    let mut backoff = config.backoff;
    let mut tries = 0;
    loop {
        pace.turn().await;
        match once(config, client, &target).await {
            Tried::Told(value) => return Ok(value),
            Tried::Refused(error) => return Err(error),
            Tried::Busy(why) if tries >= config.retries => {
                return refused(format!("{} \"{url}\": {why}", config.method));
            }
            Tried::Busy(_) => {
                tries += 1;
                tokio::time::sleep(backoff).await;
                backoff = (backoff * 2).min(BACKOFF_MAX);
            }
        }
    }
}

async fn once(config: &Config, client: &Client, target: &OwnedTarget) -> Tried {
    let mut headers = Headers::new();
    for (name, value) in &config.headers {
        if headers.append(name, value).is_err() {
            let message = format!("the header {name} cannot be sent");
            return Tried::Refused(SecretError::Refused(message));
        }
    }
    let target = target.borrow();
    let mut request = Request::new(&config.method, &target, &headers);
    request.body = Body::Empty;
    request.keep_max = Some(ANSWER_MAX);
    let timeout = u64::try_from(config.timeout.as_nanos()).unwrap_or(u64::MAX);
    request.deadline = Some(client.network().now().saturating_add(timeout));
    let exchange = client.exchange(&request).await;
    let status = match exchange.response() {
        Ok(response) => response.status(),
        Err(failure) => return Tried::Busy(failure.to_string()),
    };
    match status {
        200..=299 => {}
        429 | 500..=599 => return Tried::Busy(format!("status {status}")),
        _ => return Tried::Refused(SecretError::Status(status)),
    }
    let Ok(text) = String::from_utf8(exchange.body().to_vec()) else {
        return Tried::Refused(SecretError::Refused("the answer is not text".to_owned()));
    };
    match &config.path {
        None => Tried::Told(text),
        Some(path) => match path::find(&text, path) {
            Some(value) => Tried::Told(value),
            None => Tried::Refused(SecretError::Refused(format!(
                "the answer has nothing at the path {path}"
            ))),
        },
    }
}

/// A name as a segment of a URL's path.
fn escaped(name: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Answers one request per entry, each with a status and a text.
    fn server(answers: Vec<(u16, &'static str)>) -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let mut heads = Vec::new();
            for (status, text) in answers {
                let (socket, _) = listener.accept().unwrap();
                let mut head = String::new();
                let mut reader = BufReader::new(&socket);
                while !head.ends_with("\r\n\r\n") {
                    reader.read_line(&mut head).unwrap();
                }
                let size = text.len();
                write!(
                    &socket,
                    "HTTP/1.1 {status} X\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n{text}"
                )
                .unwrap();
                heads.push(head);
            }
            heads
        });
        (format!("http://{address}/s/{{key}}"), thread)
    }

    fn config(template: &str) -> Config {
        let parts =
            format!("urlTemplate={template},retryBackoff=1ms,headers.X-Token=t,maxRetries=1");
        config::parse(&parts.split(',').collect::<Vec<_>>(), &std::collections::BTreeMap::new())
            .unwrap()
    }

    #[test]
    fn a_value_is_asked_for_once_and_a_busy_server_twice() {
        let (template, served) = server(vec![(503, ""), (200, r#"{"data":{"v":["x","y"]}}"#)]);
        let mut config = config(&template);
        config.path = Some("data.v.1".to_owned());
        let asker = Asker::new(config);
        assert_eq!(asker.ask("a b").blocking_recv().unwrap(), Ok("y".to_owned()));
        assert_eq!(asker.ask("a b").blocking_recv().unwrap(), Ok("y".to_owned()));
        let heads = served.join().unwrap();
        assert!(heads[1].starts_with("GET /s/a%20b HTTP/1.1\r\n"), "{}", heads[1]);
        assert!(heads[1].contains("X-Token: t\r\n"));
    }

    #[test]
    fn a_name_that_the_server_does_not_know_has_no_value() {
        let (template, served) = server(vec![(404, "")]);
        let asker = Asker::new(config(&template));
        assert_eq!(asker.ask("a").blocking_recv().unwrap(), Err(SecretError::Status(404)));
        served.join().unwrap();
    }

    #[test]
    fn a_server_that_is_not_there_is_given_up() {
        let asker = Asker::new(config("http://127.0.0.1:1/{key}"));
        let told = asker.ask("a").blocking_recv().unwrap();
        assert!(matches!(told, Err(SecretError::Refused(_))), "{told:?}");
    }
}
