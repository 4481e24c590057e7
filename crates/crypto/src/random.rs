//! Where keys, salts and paddings come from.

use rsa::rand_core::{CryptoRng, Error, RngCore};
use sha2::{Digest as _, Sha256};

/// Random bytes: the system's secret ones, or the bytes of a seed, which repeat and protect nothing.
#[derive(Debug, Default)]
pub enum Random {
    /// The system's.
    #[default]
    System,
    /// The same for the same seed.
    Seeded(Seeded),
}

/// The hashes of a seed and a counter, one after the other.
#[derive(Debug)]
pub struct Seeded {
    seed: u64,
    count: u64,
}

impl Random {
    /// The bytes of a seed.
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Seeded { seed, count: 0 })
    }
}

impl Random {
    /// Fills a slice.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<(), impl std::fmt::Display + use<>> {
        self.try_fill_bytes(bytes)
    }
}

impl RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        rsa::rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rsa::rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        match self {
            Self::System => rsa::rand_core::OsRng.fill_bytes(bytes),
            Self::Seeded(seeded) => {
                for block in bytes.chunks_mut(32) {
                    let mut hash = Sha256::new_with_prefix(seeded.seed.to_le_bytes());
                    hash.update(seeded.count.to_le_bytes());
                    block.copy_from_slice(&hash.finalize()[..block.len()]);
                    seeded.count += 1;
                }
            }
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::System => rsa::rand_core::OsRng.try_fill_bytes(bytes),
            Self::Seeded(_) => {
                self.fill_bytes(bytes);
                Ok(())
            }
        }
    }
}

/// As far as the system's are; the caller decides for a seed.
impl CryptoRng for Random {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_the_system_does_not() {
        let of = |mut random: Random| {
            let mut bytes = [0; 70];
            random.fill_bytes(&mut bytes);
            (bytes, random.next_u64())
        };
        assert_eq!(of(Random::seeded(5)), of(Random::seeded(5)));
        assert_ne!(of(Random::seeded(5)), of(Random::seeded(6)));
        assert_ne!(of(Random::System), of(Random::System));
        let (bytes, _) = of(Random::seeded(5));
        assert_ne!(bytes[..32], bytes[32..64]);
    }
}
