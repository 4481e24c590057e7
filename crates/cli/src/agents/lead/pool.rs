//! Pools: agents that wait for any leader, one run at a time.

use std::time::Duration;

use brunt_nats::{Broker, Change, Put, Run};
use tokio::time::sleep;

use crate::agents::broker;
use crate::agents::follow::pool_run;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// A leader that does not renew its sign for so long is dead: it renews it each two seconds.
const SILENT: u32 = 10;

/// Lets the agents of the pool join this run.
///
/// # Errors
/// Another leader leads them (112); the connection.
pub(super) async fn take(broker: &Broker, pool: &str, run: &Run) -> Outcome<()> {
    let value = value(run);
    loop {
        match broker.take_pool(pool, value.clone()).await.map_err(broker::failure)? {
            Put::Done(_) => return Ok(()),
            Put::Lost => {}
        }
        let Some(now) = broker.pool_now(pool).await.map_err(broker::failure)? else { continue };
        let Some(other) = now.value.as_deref().and_then(pool_run) else { continue };
        if other == run.id() {
            // Taken by this run's leader, before it died.
            return Ok(());
        }
        let standing = standing(broker, &other).await?;
        if standing == Standing::Led {
            let told = format!("the pool \"{pool}\" is in use by the run {other}");
            return Err(Failure::new(Exit::NotStarted, anyhow::Error::msg(told))
                .hint("wait for its end, or take another pool with --pool, on agents and leader"));
        }
        if standing == Standing::Left {
            log::warn!(
                "the leader of the run {other} left the pool \"{pool}\" behind: taking it over"
            );
        }
        let taken = broker.retake_pool(pool, value.clone(), now.revision).await;
        if let Put::Done(_) = taken.map_err(broker::failure)? {
            return Ok(());
        }
    }
}

/// How far the run is that a pool's key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agents) enum Standing {
    /// Its leader renews its sign.
    Led,
    /// It is not over, and its leader is dead.
    Left,
    /// It is over.
    Over,
}

/// Looks whether a run is led; takes ten seconds if its leader is dead.
///
/// # Errors
/// The connection.
pub(in crate::agents) async fn standing(broker: &Broker, other: &str) -> Outcome<Standing> {
    let Ok(run) = broker.run(other) else { return Ok(Standing::Over) };
    let key = async |name: &str| run.key_now(name).await.map_err(broker::failure);
    let sign = |change: Option<Change>| change.map(|change| change.revision);
    let mut first = None;
    for second in 0..=SILENT {
        let phase = key("phase").await?.and_then(|change| change.value).unwrap_or_default();
        let phase: serde_json::Value = serde_json::from_slice(&phase).unwrap_or_default();
        if phase["phase"] == "done" {
            // Of two leaders that come at once one leads, and the other is told so, however short the test is.
            return Ok(if second == 0 { Standing::Over } else { Standing::Led });
        }
        let now = sign(key("leader").await?);
        if *first.get_or_insert(now) != now {
            return Ok(Standing::Led);
        }
        if second < SILENT {
            sleep(Duration::from_secs(1)).await;
        }
    }
    Ok(Standing::Left)
}

/// From one look at the pool's key to the next.
const KEEP_EVERY: Duration = Duration::from_secs(2);

/// Writes the pool's key again whenever it is gone: a broker may come back with an emptied store.
pub(super) async fn keep(broker: Broker, pool: String, run: Run) {
    loop {
        sleep(KEEP_EVERY).await;
        if let Ok(now) = broker.pool_now(&pool).await
            && now.is_none_or(|now| now.value.is_none())
            && let Err(error) = broker.take_pool(&pool, value(&run)).await
        {
            log::debug!("{error}");
        }
    }
}

fn value(run: &Run) -> Vec<u8> {
    serde_json::json!({ "run": run.id() }).to_string().into_bytes()
}

/// Gives the pool back, if it is this run's.
pub(super) async fn leave(broker: &Broker, pool: &str, run: &Run) {
    let is_ours = |change: &Change| {
        change.value.as_deref().and_then(pool_run).is_some_and(|other| other == run.id())
    };
    match broker.pool_now(pool).await {
        Ok(Some(now)) if is_ours(&now) => {
            if let Err(error) = broker.leave_pool(pool).await {
                log::debug!("{error}");
            }
        }
        Ok(_) => {}
        Err(error) => log::debug!("{error}"),
    }
}
