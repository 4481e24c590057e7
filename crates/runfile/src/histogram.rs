//! A distribution as bytes: the column `histogram` of slices, and the same bytes in the data of the page.
//!
//! | first byte | follows |
//! |---|---|
//! | 0 | the values, rising, as doubles, little endian |
//! | 1 | bins, rising by key: a varint of `2·d + m`; d = the key minus the one before; m = 1: a varint of the count follows, else it is 1 |
//! | 2 | the values, rising, as whole millionths: a zigzag, then varints of the differences |
//! | 3 | the same as whole numbers |
//!
//! In the file one byte is in front: 0 = as it is, 1 = packed with zstd (RFC 8878).

use brunt_metrics::Distribution;

use crate::varint::{put, put_signed, take, take_signed};

/// More bytes than any histogram has: 2²² bins of eleven bytes each would be more, but no slice has that number of different values.
const UNPACKED_MAX: usize = 16 << 20;

/// Shorter ones are not packed: it would gain nothing.
const PACK_FROM: usize = 32;

/// Whole numbers below this are exact as doubles.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The bytes of a distribution; of bins if `binned`, or if it has nothing else.
pub(crate) fn encode(distribution: &Distribution, binned: bool, out: &mut Vec<u8>) {
    let values = distribution.values().filter(|_| !binned);
    let Some(values) = values else {
        return encode_bins(&distribution.buckets(), out);
    };
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    for (form, scale) in [(3, 1.0), (2, 1e6)] {
        if let Some(whole) = whole(&sorted, scale) {
            out.push(form);
            let mut before = None;
            for number in whole {
                match before {
                    None => put_signed(out, number),
                    Some(before) => put(out, number.wrapping_sub(before) as u64),
                }
                before = Some(number);
            }
            return;
        }
    }
    out.push(0);
    for value in sorted {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// The values as whole parts of 1/scale, if each comes back from it bit by bit.
fn whole(values: &[f64], scale: f64) -> Option<Vec<i64>> {
    let whole = |value: &f64| {
        let number = (value * scale).round();
        let is_small = number.abs() < WHOLE_MAX;
        let number = number as i64;
        (is_small && (number as f64 / scale).to_bits() == value.to_bits()).then_some(number)
    };
    values.iter().map(whole).collect()
}

fn encode_bins(buckets: &[(u32, u64)], out: &mut Vec<u8>) {
    out.push(1);
    let mut before = 0;
    for (key, count) in buckets {
        let step = u64::from(key - before) << 1;
        before = *key;
        if *count == 1 {
            put(out, step);
        } else {
            put(out, step | 1);
            put(out, *count);
        }
    }
}

/// The distribution that some bytes are; `None` if they are none.
pub(crate) fn decode(bytes: &[u8]) -> Option<Distribution> {
    let (form, mut bytes) = bytes.split_first()?;
    let bytes = &mut bytes;
    let scale = match form {
        0 => {
            if bytes.len() % 8 != 0 {
                return None;
            }
            let doubles =
                bytes.chunks_exact(8).map(|chunk| chunk.try_into().map(f64::from_le_bytes));
            let values: Vec<f64> = doubles.collect::<Result<_, _>>().ok()?;
            let is_number = values.iter().all(|value| !value.is_nan());
            return is_number.then(|| Distribution::from_values(values));
        }
        1 => return decode_bins(bytes),
        2 => 1e6,
        3 => 1.0,
        _ => return None,
    };
    let mut values = Vec::new();
    let mut number = None;
    while !bytes.is_empty() {
        let next = match number {
            None => take_signed(bytes)?,
            Some(before) => i64::checked_add_unsigned(before, take(bytes)?)?,
        };
        values.push(next as f64 / scale);
        number = Some(next);
    }
    Some(Distribution::from_values(values))
}

fn decode_bins(bytes: &mut &[u8]) -> Option<Distribution> {
    let mut buckets = Vec::new();
    let mut key = 0u32;
    while !bytes.is_empty() {
        let step = take(bytes)?;
        key = key.checked_add(u32::try_from(step >> 1).ok()?)?;
        let count = if step & 1 == 1 { take(bytes)? } else { 1 };
        if key >= 1 << 22 || (step >> 1 == 0 && !buckets.is_empty()) {
            return None;
        }
        buckets.push((key, count));
    }
    Some(Distribution::from_buckets(buckets))
}

/// Packs histograms for the file.
pub(crate) struct Packer {
    zstd: zstd::bulk::Compressor<'static>,
    plain: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut zstd = zstd::bulk::Compressor::new(3)?;
        // Eighteen bytes less in each row.
        zstd.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(false))?;
        zstd.set_parameter(zstd::zstd_safe::CParameter::DictIdFlag(false))?;
        Ok(Self { zstd, plain: Vec::new() })
    }

    /// The column's bytes.
    pub(crate) fn pack(&mut self, distribution: &Distribution, binned: bool) -> Vec<u8> {
        self.plain.clear();
        encode(distribution, binned, &mut self.plain);
        if self.plain.len() >= PACK_FROM
            && let Ok(packed) = self.zstd.compress(&self.plain)
            && packed.len() < self.plain.len()
        {
            let mut out = Vec::with_capacity(packed.len() + 1);
            out.push(1);
            out.extend_from_slice(&packed);
            return out;
        }
        let mut out = Vec::with_capacity(self.plain.len() + 1);
        out.push(0);
        out.extend_from_slice(&self.plain);
        out
    }
}

/// Unpacks the column's bytes.
pub(crate) struct Unpacker {
    zstd: zstd::bulk::Decompressor<'static>,
    plain: Vec<u8>,
}

impl Unpacker {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self { zstd: zstd::bulk::Decompressor::new()?, plain: Vec::new() })
    }

    /// The histogram's bytes; `None` if they are damaged.
    pub(crate) fn plain<'a>(&'a mut self, packed: &'a [u8]) -> Option<&'a [u8]> {
        let (how, bytes) = packed.split_first()?;
        match how {
            0 => Some(bytes),
            1 => {
                let size = zstd::zstd_safe::get_frame_content_size(bytes).ok()??;
                let size = usize::try_from(size).ok().filter(|size| *size <= UNPACKED_MAX)?;
                self.plain.clear();
                self.plain.reserve(size);
                self.zstd.decompress_to_buffer(bytes, &mut self.plain).ok()?;
                Some(&self.plain)
            }
            _ => None,
        }
    }

    /// The distribution.
    pub(crate) fn unpack(&mut self, packed: &[u8]) -> Option<Distribution> {
        decode(self.plain(packed)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(values: &[f64], binned: bool) {
        let distribution = Distribution::from_values(values.to_vec());
        let packed = Packer::new().unwrap().pack(&distribution, binned);
        let back = Unpacker::new().unwrap().unpack(&packed).unwrap();
        assert_eq!(back.is_exact(), distribution.is_exact() && !binned);
        assert_eq!(back.buckets(), distribution.buckets());
        if let Some(back) = back.values() {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(back), bits(&sorted));
        }
    }

    #[test]
    fn odd_values_come_back() {
        there_and_back(&[], false);
        there_and_back(&[f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MIN_POSITIVE], false);
        there_and_back(&[f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MIN_POSITIVE], true);
        there_and_back(&[9_007_199_254_740_993.0, -4.0, 1e300], false);
        there_and_back(&vec![3.0; 4096], false);
        there_and_back(&vec![3.25; 9000], false);
    }

    #[test]
    fn nanoseconds_take_few_bytes() {
        let values: Vec<f64> = (0..100).map(|n| f64::from(1_000_000 + n * 977) / 1e6).collect();
        let mut bytes = Vec::new();
        encode(&Distribution::from_values(values), false, &mut bytes);
        assert_eq!(bytes[0], 2);
        assert!(bytes.len() < 210, "{}", bytes.len());
    }

    #[test]
    fn damaged_bytes_are_no_histogram() {
        for bytes in [
            &[][..],
            &[9, 1],
            &[0, 0, 1, 2],
            &[1, 1, 2, 3],
            &[0, 1, 0xff],
            &[0, 1, 3, 1, 1, 1],
            &[0, 2, 0x80],
        ] {
            assert!(Unpacker::new().unwrap().unpack(bytes).is_none(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(
            values in prop::collection::vec(prop_oneof![0.001..60_000.0, (1u32..60_000_000).prop_map(|ns| f64::from(ns) / 1e6), (0u32..50).prop_map(f64::from)], 0..6000),
            binned: bool,
        ) {
            there_and_back(&values, binned);
        }

        #[test]
        fn no_bytes_are_a_trap(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Unpacker::new().unwrap().unpack(&bytes);
        }
    }
}
