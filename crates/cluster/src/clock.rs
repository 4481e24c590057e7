//! The difference between an agent's clock and the leader's.

use std::collections::VecDeque;

use crate::messages::{ClockAsk, ClockReply};
use crate::time::{MILLI, Nanos, SECOND};

/// Exchanges before the start.
pub(crate) const FIRST: u32 = 8;
/// From one round of later exchanges to the next.
const EVERY: u64 = 10 * SECOND;
/// Exchanges of a later round.
const ROUND: u32 = 4;
/// A question without an answer is asked again.
const PATIENCE: u64 = SECOND;
/// Between two questions of a round.
const PAUSE: u64 = 20 * MILLI;
/// The quickest exchange of this time counts.
const MEMORY: u64 = 60 * SECOND;
/// Exchanges that are remembered; older ones go.
const SAMPLES_MAX: usize = 64;

/// Measures how much the leader's clock is ahead: ((t2 − t1) + (t3 − t4)) / 2 of the quickest exchange of the last minute, which
/// is wrong by half of its round trip at most.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    samples: VecDeque<Sample>,
    /// The question that waits for an answer.
    asked: Option<Nanos>,
    /// Exchanges that came back, ever.
    count: u32,
    /// When to ask next, and how many times in this round.
    next: Option<Nanos>,
    left: u32,
    /// The first offset that counted, and when: for the drift.
    first: Option<(Nanos, i64)>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Nanos,
    offset: i64,
    rtt: u64,
}

impl Clock {
    /// Begins to ask.
    pub fn start(&mut self, now: Nanos) {
        (self.next, self.left) = (Some(now), FIRST);
    }

    /// The question that is due.
    pub fn ask(&mut self, now: Nanos) -> Option<ClockAsk> {
        self.next.filter(|next| *next <= now)?;
        if self.asked.take().is_none() {
            self.left = if self.left == 0 { ROUND } else { self.left };
        }
        self.asked = Some(now);
        self.next = Some(now + PATIENCE);
        Some(ClockAsk { t1: now })
    }

    /// Takes an answer in; one to another question is ignored.
    pub fn reply(&mut self, now: Nanos, reply: ClockReply) {
        if self.asked != Some(reply.t1) || now < reply.t1 {
            return;
        }
        self.asked = None;
        let there = i128::from(reply.t2) - i128::from(reply.t1);
        let back = i128::from(reply.t3) - i128::from(now);
        let busy = reply.t3.saturating_sub(reply.t2);
        let rtt = (now - reply.t1).saturating_sub(busy);
        let offset = i64::try_from(i128::midpoint(there, back)).unwrap_or(0);
        if self.samples.len() >= SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample { at: now, offset, rtt });
        self.samples.retain(|sample| now.saturating_sub(sample.at) <= MEMORY);
        self.count = self.count.saturating_add(1);
        self.left = self.left.saturating_sub(1);
        let pause = if self.count < FIRST || self.left > 0 { PAUSE } else { EVERY };
        self.next = Some(now + pause);
        if self.count == FIRST {
            self.first = Some((now, self.offset()));
        }
    }

    /// Whether the exchanges before the start are done.
    pub fn is_ready(&self) -> bool {
        self.count >= FIRST
    }

    fn best(&self) -> Option<&Sample> {
        self.samples.iter().min_by_key(|sample| sample.rtt)
    }

    /// The time to add to the own clock to have the leader's; 0 before the first answer.
    pub fn offset(&self) -> i64 {
        self.best().map_or(0, |sample| sample.offset)
    }

    /// The round trip of the exchange that told it.
    pub fn rtt(&self) -> u64 {
        self.best().map_or(0, |sample| sample.rtt)
    }

    /// How fast the clocks part, in millionths; none before two minutes have passed.
    pub fn drift_ppm(&self, now: Nanos) -> Option<f64> {
        let (at, offset) = self.first?;
        let elapsed = now.saturating_sub(at);
        (elapsed >= 120 * SECOND).then(|| (self.offset() - offset) as f64 / elapsed as f64 * 1e6)
    }

    /// When [`ask`](Self::ask) has something.
    pub fn wake_at(&self) -> Option<Nanos> {
        self.next
    }
}

/// A moment of one clock on another, which is ahead of it by `offset`.
pub(crate) fn shifted(moment: Nanos, offset: i64) -> Nanos {
    moment.saturating_add_signed(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_counts_and_its_bound_holds() {
        let mut clock = Clock::default();
        let (ahead, mut now) = (10 * SECOND, 5 * SECOND);
        clock.start(now);
        let mut asked = 0;
        for round in 0..40_u64 {
            let Some(next) = clock.wake_at() else { panic!("it goes on") };
            now = now.max(next);
            let ask = clock.ask(now).expect("it is due");
            asked += 1;
            // There and back take different times; one answer is lost.
            if round == 3 {
                continue;
            }
            let (there, back) = (MILLI * (1 + round % 7), MILLI * (1 + round % 3));
            let reply = ClockReply { t1: ask.t1, t2: now + there + ahead, t3: now + there + ahead };
            now += there + back;
            clock.reply(now, reply);
            clock.reply(now, reply);
            let error = (clock.offset() - ahead as i64).unsigned_abs();
            assert!(error <= clock.rtt() / 2, "{error} {}", clock.rtt());
        }
        assert!(clock.is_ready() && asked == 40);
        assert_eq!(clock.rtt(), 2 * MILLI);
        // Eight at once, then four each ten seconds.
        assert!(now > 70 * SECOND && now < 95 * SECOND, "{now}");
    }

    #[test]
    fn answers_to_other_questions_are_ignored() {
        let mut clock = Clock::default();
        clock.start(100);
        let ask = clock.ask(100).unwrap();
        clock.reply(200, ClockReply { t1: ask.t1 + 1, t2: 0, t3: 0 });
        clock.reply(50, ClockReply { t1: ask.t1, t2: 0, t3: 0 });
        assert_eq!((clock.count, clock.ask(150)), (0, None));
    }
}
