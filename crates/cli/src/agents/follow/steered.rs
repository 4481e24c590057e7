//! An agent's run, paused and scaled as its leader says.

use brunt_cluster::Steering;
use brunt_engine::Live;
use tokio::sync::watch;

/// Starts the task that steers the run: the newest word of the leader counts. It ends with the sender.
pub(super) fn start(live: Live) -> watch::Sender<Steering> {
    let (sender, mut news) = watch::channel(Steering::default());
    tokio::spawn(async move {
        let mut is_there = news.changed().await.is_ok();
        while is_there {
            let Steering { paused, vus, vus_max, .. } = *news.borrow_and_update();
            // VUs that are missing may take their time: a pause does not wait for them.
            is_there = tokio::select! {
                followed = live.follow(paused, vus, vus_max) => {
                    if let Err(error) = followed {
                        log::error!("the test can't be scaled on this machine: {error}");
                    }
                    news.changed().await.is_ok()
                }
                changed = news.changed() => changed.is_ok(),
            };
        }
    });
    sender
}
