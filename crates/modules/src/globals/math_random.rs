//! `randomSeed(n)`: from then on `Math.random` gives the numbers that Go's `math/rand` gives for this seed, as in k6.
//!
//! Go's generator is an additive lagged Fibonacci generator over 64 bits, y(n) = y(n−607) + y(n−273). A seed fills its
//! 607 values from a Lehmer generator and mixes each with a fixed table, which is the state of the same generator
//! after 7.8·10¹² steps from seed 1. We do not carry the table: the recurrence is linear, so that state is computed by
//! raising x to that power modulo x⁶⁰⁷ − x³³⁴ − 1, in some ten milliseconds, once per process and only if a script
//! seeds.

use std::cell::RefCell;
use std::sync::OnceLock;

use brunt_quickjs::{Ctx, JsResult};

/// How many values the generator remembers.
const LENGTH: usize = 607;
/// The shorter of its two lags.
const TAP: usize = 273;
/// The modulus of the Lehmer generator, a prime: 2³¹ − 1.
const LEHMER_MODULUS: i64 = (1 << 31) - 1;
/// Takes the place of seed 0, which the Lehmer generator would stay at.
const SEED_FOR_ZERO: i64 = 89_482_311;
/// How far the table is from its own seed.
const TABLE_STEPS: u64 = 7_800_000_000_000;

/// Replaces `Math.random` of the VM. The generator takes 5 kB, in VMs that were seeded only.
pub(crate) fn seed_random(ctx: Ctx<'_>, seed: i64) -> JsResult<'_, ()> {
    let generator = RefCell::new(Generator::new(seed));
    let random = ctx
        .closure(c"random", 0, move |call| Ok(call.ctx().number(generator.borrow_mut().float())))?;
    ctx.global().get("Math")?.define_hidden("random", random)
}

/// The generator of `math/rand`.
struct Generator {
    values: Box<[u64; LENGTH]>,
    tap: usize,
    feed: usize,
}

impl Generator {
    fn new(seed: i64) -> Self {
        let table = TABLE.get_or_init(table);
        let mut values = lehmer_fill(seed, [40, 20]);
        for (value, mixed) in values.iter_mut().zip(table.iter()) {
            *value ^= mixed;
        }
        Self { values, tap: 0, feed: LENGTH - TAP }
    }

    fn next(&mut self) -> u64 {
        self.tap = self.tap.checked_sub(1).unwrap_or(LENGTH - 1);
        self.feed = self.feed.checked_sub(1).unwrap_or(LENGTH - 1);
        let value = self.values[self.feed].wrapping_add(self.values[self.tap]);
        self.values[self.feed] = value;
        value
    }

    /// From 0 to below 1: 63 bits, rounded to a float. A number that rounds up to 1 is drawn again.
    fn float(&mut self) -> f64 {
        const STEPS: u64 = 1 << 63;
        loop {
            let float = (self.next() & (STEPS - 1)) as f64 / STEPS as f64;
            if float < 1.0 {
                return float;
            }
        }
    }
}

/// 607 values of three Lehmer numbers each, the first two shifted by this much. Twenty numbers are thrown away before.
fn lehmer_fill(seed: i64, shifts: [u32; 2]) -> Box<[u64; LENGTH]> {
    let mut lehmer = seed.wrapping_rem(LEHMER_MODULUS);
    if lehmer < 0 {
        lehmer += LEHMER_MODULUS;
    }
    if lehmer == 0 {
        lehmer = SEED_FOR_ZERO;
    }
    let mut next = || {
        lehmer = lehmer * 48_271 % LEHMER_MODULUS;
        lehmer as u64
    };
    for _ in 0..20 {
        next();
    }
    let mut values = Box::new([0; LENGTH]);
    for value in values.iter_mut() {
        *value = next() << shifts[0] ^ next() << shifts[1] ^ next();
    }
    values
}

static TABLE: OnceLock<Box<[u64; LENGTH]>> = OnceLock::new();

/// The state after [`TABLE_STEPS`] steps from seed 1.
fn table() -> Box<[u64; LENGTH]> {
    let start = lehmer_fill(1, [20, 10]);
    // The slot that step n reads first and then writes.
    let slot = |step: u64| (LENGTH - TAP - 1 + LENGTH - (step % LENGTH as u64) as usize) % LENGTH;
    // The sequence z: 607 values to start from, then the generator's outputs, so that output n is z(n + 607).
    let mut z = Vec::with_capacity(2 * LENGTH);
    z.extend((0..LENGTH).map(|step| start[slot(step as u64)]));
    for next in LENGTH..2 * LENGTH {
        z.push(z[next - LENGTH].wrapping_add(z[next - TAP]));
    }
    // z(steps + k) is the sum of the power's coefficients times z(i + k).
    let power = power_of_x(TABLE_STEPS);
    let mut table = Box::new([0; LENGTH]);
    for later in 0..LENGTH {
        let value = power
            .iter()
            .zip(&z[later..])
            .fold(0_u64, |sum, (factor, value)| sum.wrapping_add(factor.wrapping_mul(*value)));
        table[slot(TABLE_STEPS + later as u64)] = value;
    }
    table
}

/// x to this power modulo x⁶⁰⁷ − x³³⁴ − 1 and modulo 2⁶⁴; the coefficient of xⁱ is at i.
fn power_of_x(exponent: u64) -> [u64; LENGTH] {
    let mut power = [0_u64; LENGTH];
    power[0] = 1;
    for bit in (0..u64::BITS).rev() {
        let mut product = vec![0_u64; 2 * LENGTH];
        for (low, &factor) in power.iter().enumerate().filter(|&(_, &factor)| factor != 0) {
            for (sum, &other) in product[low..].iter_mut().zip(&power) {
                *sum = sum.wrapping_add(factor.wrapping_mul(other));
            }
        }
        if exponent >> bit & 1 == 1 {
            product.rotate_right(1);
        }
        // From the top: x⁶⁰⁷⁺ⁱ is x³³⁴⁺ⁱ + xⁱ.
        for high in (LENGTH..2 * LENGTH).rev() {
            let factor = product[high];
            product[high - TAP] = product[high - TAP].wrapping_add(factor);
            product[high - LENGTH] = product[high - LENGTH].wrapping_add(factor);
        }
        power.copy_from_slice(&product[..LENGTH]);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{text, vm};

    // k6 gave these numbers for the same seeds.
    #[test]
    fn a_seed_gives_the_numbers_that_k6_gives() {
        let vm = vm(|_| Ok(()));
        let ctx = vm.ctx();
        let first = |seed| {
            seed_random(ctx, seed).unwrap();
            text(ctx, "Math.random()")
        };
        assert_eq!(first(-5), "0.1964231528691937");
        assert_eq!(first(12_345_678_901), "0.891429489483646");
        assert_eq!(first(0), "0.9451961492941164");
        assert_eq!(first(2_147_483_647), "0.9451961492941164");
        assert_eq!(
            text(ctx, "for (let i = 0; i < 1000; i++) Math.random(); Math.random()"),
            "0.5233180672963521"
        );
        assert_eq!(first(1), "0.6046602879796196");
        assert_eq!(
            text(ctx, "[Math.random(), Math.random()].join()"),
            "0.9405090880450124,0.6645600532184904"
        );
    }

    #[test]
    fn a_power_of_x_is_the_jump_over_so_many_steps() {
        let mut z: Vec<u64> = (0..LENGTH as u64).map(|value| value * value + 1).collect();
        for next in LENGTH..5000 {
            z.push(z[next - LENGTH].wrapping_add(z[next - TAP]));
        }
        for steps in [0, 1, 606, 607, 1000, 4321] {
            let jump = power_of_x(steps as u64)
                .iter()
                .zip(&z)
                .fold(0_u64, |sum, (factor, value)| sum.wrapping_add(factor.wrapping_mul(*value)));
            assert_eq!(jump, z[steps], "{steps}");
        }
    }
}
