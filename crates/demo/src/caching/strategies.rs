//! The strategies themselves: how each route reads, writes and forgets.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::item::{Change, Item, Loaded};
use super::memory::Lookup;
use super::redis::RedisDown;
use super::{Absence, Caching, DICTIONARY_MAX, Instance, Outcome, Strategy, Tier};
use crate::config::RedisFallback;
use crate::timing::Phases;

/// How a load ended: what it found and where, and what that took.
pub(super) type Landing = (Result<(Arc<Loaded>, Tier), Absence>, Phases);

/// An item, and how it was found.
pub(super) struct Found {
    pub(super) loaded: Arc<Loaded>,
    pub(super) outcome: Outcome,
    pub(super) tier: Tier,
    /// In place of the loaded JSON: the pitfall routes make theirs at each request.
    pub(super) body: Option<Bytes>,
}

impl Found {
    fn new(loaded: Arc<Loaded>, outcome: Outcome, tier: Tier) -> Self {
        Self { loaded, outcome, tier, body: None }
    }
}

impl From<RedisDown> for Absence {
    fn from(RedisDown: RedisDown) -> Self {
        Self::RedisDown
    }
}

impl Caching {
    /// Finds an item the strategy's way. `instance` counts from 0 and is below their number.
    pub(super) async fn read(
        self: &Arc<Self>,
        strategy: Strategy,
        id: u64,
        instance: usize,
        phases: &mut Phases,
    ) -> Result<Found, Absence> {
        let found = match strategy {
            Strategy::NoCache => {
                let loaded = self.load(strategy, id, phases).await?;
                Ok(Found::new(loaded, Outcome::Bypass, Tier::Origin))
            }
            Strategy::Dictionary => self.read_dictionary(id, phases).await,
            Strategy::Memory => self.read_memory(id, phases).await,
            Strategy::Redis | Strategy::LazyWrite => self.read_redis(strategy, id, phases).await,
            Strategy::WriteThrough => {
                let stored = self.redis.get(&self.key(strategy, id), id, phases).await?;
                let loaded = stored.ok_or_else(|| {
                    self.count_outcome(strategy, Outcome::Miss);
                    Absence::NotCached
                })?;
                Ok(Found::new(loaded, Outcome::Hit, Tier::Redis))
            }
            Strategy::Lazy | Strategy::TwoTier | Strategy::Event => {
                self.read_single_flight(strategy, id, instance, phases).await
            }
            Strategy::Immutable | Strategy::Mutable => {
                self.read_pitfall(strategy, id, phases).await
            }
        }?;
        self.count_outcome(strategy, found.outcome);
        Ok(found)
    }

    /// Changes an item at the origin, and in the cache if the strategy does that.
    pub(super) async fn write(
        self: &Arc<Self>,
        strategy: Strategy,
        id: u64,
        instance: usize,
        change: Change,
        phases: &mut Phases,
    ) -> Result<Arc<Loaded>, Absence> {
        let (written, spent) = self.origin.write(id, change).await;
        phases.add(&spent);
        let loaded = written?;
        match strategy {
            Strategy::WriteThrough => {
                self.redis.set(&self.key(strategy, id), &loaded, phases).await?;
            }
            Strategy::LazyWrite | Strategy::TwoTier => {
                let stored = self.redis.set(&self.key(strategy, id), &loaded, phases).await;
                if stored.is_err() && self.fallback == RedisFallback::Fail {
                    return Err(Absence::RedisDown);
                }
                if strategy == Strategy::TwoTier {
                    self.twotier[instance].memory.put(loaded.clone());
                }
            }
            Strategy::Event => self.publish(&loaded),
            // Written around the cache: it goes on answering what it has. That is the lesson.
            _ => {}
        }
        Ok(loaded)
    }

    /// Removes an item from the strategy's cache; from all instances, where it has several.
    pub(super) async fn forget(
        &self,
        strategy: Strategy,
        id: u64,
        phases: &mut Phases,
    ) -> Result<(), Absence> {
        match strategy {
            Strategy::NoCache => {}
            Strategy::Dictionary => {
                self.dictionary().remove(&id);
            }
            Strategy::Memory => self.memory.remove(id),
            Strategy::Lazy => self.lazy.memory.remove(id),
            Strategy::Event => self.event.iter().for_each(|instance| instance.memory.remove(id)),
            Strategy::Immutable | Strategy::Mutable => self.pitfall(strategy).remove(id),
            Strategy::TwoTier => {
                self.redis.delete(&self.key(strategy, id), phases).await?;
                self.twotier.iter().for_each(|instance| instance.memory.remove(id));
            }
            Strategy::Redis | Strategy::WriteThrough | Strategy::LazyWrite => {
                self.redis.delete(&self.key(strategy, id), phases).await?;
            }
        }
        Ok(())
    }

    /// Preloads the write-through cache, as an application does at its start. Gives the number of
    /// items.
    ///
    /// # Errors
    /// A sentence, if Redis is down.
    pub(crate) async fn warm(&self, ids: impl Iterator<Item = u64>) -> Result<u64, &'static str> {
        let mut count = 0;
        for id in ids {
            let key = self.key(Strategy::WriteThrough, id);
            let stored = self.redis.preload(&key, &Loaded::now(&self.origin.item(id))).await;
            stored.map_err(|RedisDown| "Redis is down")?;
            count += 1;
        }
        Ok(count)
    }

    /// One origin call for this strategy.
    async fn load(
        &self,
        strategy: Strategy,
        id: u64,
        phases: &mut Phases,
    ) -> Result<Arc<Loaded>, Absence> {
        self.count_origin_call(strategy, id);
        let (loaded, spent) = self.origin.read(id).await;
        phases.add(&spent);
        loaded
    }

    async fn read_dictionary(&self, id: u64, phases: &mut Phases) -> Result<Found, Absence> {
        if let Some(loaded) = self.dictionary().get(&id).cloned() {
            return Ok(Found::new(loaded, Outcome::Hit, Tier::Memory));
        }
        // Between this look and the insertion others look, too: each loads. Check, then act.
        let loaded = self.load(Strategy::Dictionary, id, phases).await?;
        let mut dictionary = self.dictionary();
        let outcome = if dictionary.len() < DICTIONARY_MAX || dictionary.contains_key(&id) {
            dictionary.insert(id, loaded.clone());
            Outcome::Miss
        } else {
            Outcome::Bypass
        };
        Ok(Found::new(loaded, outcome, Tier::Origin))
    }

    async fn read_memory(&self, id: u64, phases: &mut Phases) -> Result<Found, Absence> {
        let outcome = match self.memory.get(id) {
            Lookup::Hit(loaded) => return Ok(Found::new(loaded, Outcome::Hit, Tier::Memory)),
            Lookup::Expired => Outcome::Expired,
            Lookup::Miss => Outcome::Miss,
        };
        // No one waits for anyone: after an expiry all who ask at once load. The stampede.
        let loaded = self.load(Strategy::Memory, id, phases).await?;
        self.memory.put(loaded.clone());
        Ok(Found::new(loaded, outcome, Tier::Origin))
    }

    async fn read_redis(
        &self,
        strategy: Strategy,
        id: u64,
        phases: &mut Phases,
    ) -> Result<Found, Absence> {
        let (loaded, outcome, tier) = self.through_redis(strategy, id, phases).await?;
        Ok(Found::new(loaded, outcome, tier))
    }

    /// Redis, else the origin, which is then stored in Redis.
    async fn through_redis(
        &self,
        strategy: Strategy,
        id: u64,
        phases: &mut Phases,
    ) -> Result<(Arc<Loaded>, Outcome, Tier), Absence> {
        let key = self.key(strategy, id);
        match self.redis.get(&key, id, phases).await {
            Ok(Some(loaded)) => Ok((loaded, Outcome::Hit, Tier::Redis)),
            Ok(None) => {
                let loaded = self.load(strategy, id, phases).await?;
                // A store that fails costs the next reader a load, nothing else.
                let _ = self.redis.set(&key, &loaded, phases).await;
                Ok((loaded, Outcome::Miss, Tier::Origin))
            }
            Err(RedisDown) if self.fallback == RedisFallback::Origin => {
                let loaded = self.load(strategy, id, phases).await?;
                Ok((loaded, Outcome::Bypass, Tier::Origin))
            }
            Err(RedisDown) => Err(Absence::RedisDown),
        }
    }

    async fn read_single_flight(
        self: &Arc<Self>,
        strategy: Strategy,
        id: u64,
        index: usize,
        phases: &mut Phases,
    ) -> Result<Found, Absence> {
        let instance = self.instance(strategy, index);
        let before = match instance.memory.get(id) {
            Lookup::Hit(loaded) => return Ok(Found::new(loaded, Outcome::Hit, Tier::Memory)),
            Lookup::Expired => Outcome::Expired,
            Lookup::Miss => Outcome::Miss,
        };
        let load = self.clone().land(strategy, id, index);
        let (landing, ours) = instance.flights.join(id, load).await;
        let (result, spent) = landing.unwrap_or((Err(Absence::Overloaded), Phases::default()));
        phases.add(&spent);
        let (loaded, tier) = result?;
        let outcome = match (ours, tier) {
            (false, _) => Outcome::Coalesced,
            (true, Tier::Origin) => before,
            (true, Tier::Memory | Tier::Redis) => Outcome::Hit,
        };
        Ok(Found::new(loaded, outcome, tier))
    }

    /// The load that a flight carries.
    async fn land(self: Arc<Self>, strategy: Strategy, id: u64, index: usize) -> Landing {
        let memory = &self.instance(strategy, index).memory;
        let mut phases = Phases::default();
        // A flight may have landed between our look and our start.
        if let Lookup::Hit(loaded) = memory.get(id) {
            return (Ok((loaded, Tier::Memory)), phases);
        }
        let result = if strategy == Strategy::TwoTier {
            let found = self.through_redis(strategy, id, &mut phases).await;
            found.map(|(loaded, _, tier)| (loaded, tier))
        } else {
            self.load(strategy, id, &mut phases).await.map(|loaded| (loaded, Tier::Origin))
        };
        if let Ok((loaded, _)) = &result {
            memory.put(loaded.clone());
        }
        (result, phases)
    }

    fn instance(&self, strategy: Strategy, index: usize) -> &Instance {
        match strategy {
            Strategy::TwoTier => &self.twotier[index],
            Strategy::Event => &self.event[index],
            _ => &self.lazy,
        }
    }

    /// Tells all instances of a change, each after the delay, if nothing gets lost.
    fn publish(self: &Arc<Self>, loaded: &Arc<Loaded>) {
        let events = &self.events;
        events.published.fetch_add(1, Relaxed);
        let Ok(room) = events.room.clone().try_acquire_owned() else {
            events.lost.fetch_add(self.event.len() as u64, Relaxed);
            return;
        };
        let (caching, loaded) = (self.clone(), loaded.clone());
        tokio::spawn(async move {
            tokio::time::sleep(caching.events.delay).await;
            for instance in &caching.event {
                if caching.dice.chance(caching.events.loss) {
                    caching.events.lost.fetch_add(1, Relaxed);
                } else {
                    instance.memory.update(&loaded);
                    caching.events.delivered.fetch_add(1, Relaxed);
                }
            }
            drop(room);
        });
    }

    async fn read_pitfall(
        &self,
        strategy: Strategy,
        id: u64,
        phases: &mut Phases,
    ) -> Result<Found, Absence> {
        let pitfall = self.pitfall(strategy);
        let mutable = strategy == Strategy::Mutable;
        if let Some((loaded, body)) = pitfall.serve(id, mutable) {
            let found = Found::new(loaded, Outcome::Hit, Tier::Memory);
            return Ok(Found { body: Some(body), ..found });
        }
        let loaded = self.load(strategy, id, phases).await?;
        pitfall.keep(loaded.clone(), self.origin.item(id));
        let body = pitfall.serve(id, mutable).map(|(_, body)| body);
        Ok(Found { body, ..Found::new(loaded, Outcome::Miss, Tier::Origin) })
    }

    fn pitfall(&self, strategy: Strategy) -> &Pitfall {
        &self.pitfalls[usize::from(strategy == Strategy::Mutable)]
    }

    fn dictionary(&self) -> MutexGuard<'_, HashMap<u64, Arc<Loaded>>> {
        self.dictionary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cache of objects rather than of bytes: what a handler does to its object is a question of
/// whether it got the cached one or a copy. At most [`DICTIONARY_MAX`] objects.
#[derive(Default)]
pub(super) struct Pitfall {
    objects: Mutex<HashMap<u64, (Arc<Loaded>, Item)>>,
}

impl Pitfall {
    /// The JSON that a handler makes of the cached object after counting a hit in it: in the shared
    /// one if `mutable`, else in a copy.
    fn serve(&self, id: u64, mutable: bool) -> Option<(Arc<Loaded>, Bytes)> {
        let mut objects = self.lock();
        let (loaded, item) = objects.get_mut(&id)?;
        let body = if mutable {
            count_hit(item);
            item.json()
        } else {
            let mut copy = item.clone();
            count_hit(&mut copy);
            copy.json()
        };
        Some((loaded.clone(), body))
    }

    fn keep(&self, loaded: Arc<Loaded>, item: Item) {
        let mut objects = self.lock();
        if objects.len() < DICTIONARY_MAX {
            objects.entry(loaded.id).or_insert((loaded, item));
        }
    }

    fn remove(&self, id: u64) {
        self.lock().remove(&id);
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Loaded>, Item)>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count_hit(item: &mut Item) {
    item.hits = Some(item.hits.unwrap_or(0) + 1);
}
