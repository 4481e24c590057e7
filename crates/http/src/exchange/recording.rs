//! An exchange while it happens.

use brunt_net::clock::Clock;
use brunt_net::{Meter, Moments, TlsInfo};

use super::{Answer, Exchange, Timings};
use crate::failure::Failure;

/// The moments of an exchange as they pass (0: not yet), and what has come so far. It outlives the
/// work on the exchange, so that a timeout finds everything up to its moment.
#[derive(Debug)]
pub(crate) struct Recording<'c> {
    /// The moments of the connection, and its bytes.
    pub(crate) moments: Moments<'c>,
    started: u64,
    acquired: u64,
    written: u64,
    first_byte: u64,
    pub(crate) tls: Option<TlsInfo>,
    pub(crate) reused: bool,
    pub(crate) answer: Answer,
}

impl<'c> Recording<'c> {
    pub(crate) fn start(clock: Clock, meter: &'c Meter, answer: Answer) -> Self {
        let moments = Moments::start(clock, meter);
        Self {
            moments,
            started: moments.asked,
            acquired: 0,
            written: 0,
            first_byte: 0,
            tls: None,
            reused: false,
            answer,
        }
    }

    /// The connection was dead and another is asked for: the moments count from here, as in k6.
    pub(crate) fn restart(&mut self) {
        self.moments.asked = self.now();
        self.acquired = 0;
        self.written = 0;
        self.first_byte = 0;
    }

    /// A connection is there. One from the pool was there at once: no need to look at the clock.
    pub(crate) fn acquired(&mut self, reused: bool) {
        self.reused = reused;
        self.acquired = if reused { self.moments.asked } else { self.now() };
    }

    pub(crate) fn written(&mut self) {
        self.written = self.now();
    }

    /// It was not sent at once but from `begun` until `at`: before that it was blocked.
    pub(crate) fn written_later(&mut self, begun: u64, at: u64) {
        self.acquired = self.acquired.max(begun);
        self.written = at;
    }

    /// When it was asked for, which is now or a moment ago.
    pub(crate) fn asked(&self) -> u64 {
        self.moments.asked
    }

    /// Some of the response is there; only the first call counts.
    pub(crate) fn answered(&mut self) {
        if self.first_byte == 0 {
            self.first_byte = self.now();
        }
    }

    /// The bytes that came were no answer yet, only the leave to go on.
    pub(crate) fn may_continue(&mut self) {
        self.first_byte = 0;
    }

    pub(crate) fn has_answer(&self) -> bool {
        self.first_byte != 0
    }

    pub(crate) fn bytes_sent(&self) -> u64 {
        self.moments.bytes_sent
    }

    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.moments.sent(bytes);
    }

    #[inline]
    pub(crate) fn received(&mut self, bytes: usize) {
        self.moments.received(bytes);
    }

    /// Bytes of this exchange on a connection that it shares, whose bytes are counted apart.
    pub(crate) fn took_part(&mut self, sent: usize, received: usize) {
        self.moments.bytes_sent += sent as u64;
        self.moments.bytes_received += received as u64;
    }

    /// All bytes of the client are counted here.
    pub(crate) fn meter(&self) -> &'c Meter {
        self.moments.meter()
    }

    /// The response began at this moment.
    pub(crate) fn answered_at(&mut self, moment: u64) {
        if self.first_byte == 0 {
            self.first_byte = moment;
        }
    }

    /// The moment now, by its clock.
    pub(crate) fn now(&self) -> u64 {
        self.moments.now()
    }

    /// The exchange at this moment, with its head there and its body to come.
    pub(crate) fn snapshot(&self) -> Exchange {
        Recording { answer: self.answer.beginning(), ..*self }.finish(None)
    }

    /// Closes the books.
    pub(crate) fn finish(self, failure: Option<Failure>) -> Exchange {
        let now = self.now();
        let way = &self.moments;
        let between = |from: u64, to: u64| {
            if from == 0 || to == 0 { 0 } else { to.saturating_sub(from) }
        };
        // The phase that was going on when it ended, went on until now.
        let first_of = |moments: [u64; 2]| moments.into_iter().find(|&moment| moment != 0);
        let sent = first_of([self.written, self.first_byte]).unwrap_or(now);
        let answered = if self.first_byte == 0 { now } else { self.first_byte };
        let timings = Timings {
            blocked: between(way.asked, self.acquired),
            // All of the way is 0 if it led to no connection.
            looking_up: if self.acquired == 0 { 0 } else { between(way.asked, way.connect_from) },
            connecting: between(way.connect_from, way.connected),
            tls_handshaking: between(way.tls_from, way.tls_done),
            sending: between(self.acquired, sent),
            waiting: between(self.written, answered),
            receiving: if self.has_answer() { now - self.first_byte.max(self.written) } else { 0 },
        };
        Exchange {
            started_at: self.started,
            finished_at: now,
            timings,
            failure,
            remote: way.remote,
            dialed: way.dialed,
            tls: self.tls,
            reused: self.reused,
            bytes_sent: way.bytes_sent,
            bytes_received: way.bytes_received,
            answer: self.answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local!(static TICK: Cell<u64> = const { Cell::new(0) });

    /// Each look at this clock is ten later than the last.
    fn tick() -> u64 {
        TICK.set(TICK.get() + 10);
        TICK.get()
    }

    fn start(meter: &Meter) -> Recording<'_> {
        Recording::start(tick, meter, Answer::default())
    }

    #[test]
    fn a_fresh_connection_has_all_parts() {
        let meter = Meter::default();
        let mut recording = start(&meter);
        recording.moments.connect_from = tick();
        recording.moments.connected = tick();
        recording.moments.tls_from = tick();
        recording.moments.tls_done = tick();
        recording.acquired(false);
        recording.sent(5);
        recording.written();
        recording.answered();
        recording.received(7);
        let exchange = recording.finish(None);
        let ten = Timings {
            blocked: 50,
            looking_up: 10,
            connecting: 10,
            tls_handshaking: 10,
            sending: 10,
            waiting: 10,
            receiving: 10,
        };
        assert_eq!(exchange.timings, ten);
        assert_eq!(ten.duration(), 30);
        assert_eq!(exchange.finished_at - exchange.started_at, 80);
        assert_eq!((meter.take(), meter.take()), ((5, 7), (0, 0)));
    }

    #[test]
    fn a_kept_connection_looks_at_the_clock_four_times() {
        let meter = Meter::default();
        let from = TICK.get();
        let mut recording = start(&meter);
        recording.acquired(true);
        recording.written();
        recording.answered();
        recording.answered();
        recording.finish(None);
        assert_eq!(TICK.get() - from, 40);
    }

    /// As k6 1.8.1 shows it.
    #[test]
    fn what_a_failure_interrupts_lasts_until_it() {
        let meter = Meter::default();
        let mut waiting = start(&meter);
        waiting.acquired(true);
        waiting.written();
        let timings = waiting.finish(Some(Failure::Timeout)).timings;
        assert_eq!((timings.sending, timings.waiting, timings.receiving), (10, 10, 0));
        let mut dialing = start(&meter);
        dialing.moments.connect_from = tick();
        assert_eq!(dialing.finish(Some(Failure::Aborted)).timings, Timings::default());
    }

    #[test]
    fn an_answer_before_the_request_is_written_ends_the_sending() {
        let meter = Meter::default();
        let mut recording = start(&meter);
        recording.acquired(true);
        recording.answered();
        let timings = recording.finish(None).timings;
        assert_eq!((timings.sending, timings.waiting, timings.receiving), (10, 0, 10));
    }

    #[test]
    fn a_retry_counts_from_anew() {
        let meter = Meter::default();
        let mut recording = start(&meter);
        recording.acquired(true);
        recording.written();
        recording.restart();
        recording.acquired(false);
        let exchange = recording.finish(None);
        assert_eq!((exchange.timings.blocked, exchange.timings.waiting), (10, 0));
        assert!(!exchange.reused);
    }
}
