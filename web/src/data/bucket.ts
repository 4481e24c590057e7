/**
 * Log-linear buckets over the bits of a double, as `crates/metrics/src/trend/bucket.rs` has them: the top 22 bits of
 * its sortable form number the bucket, so that each is at most 2⁻¹⁰ of its values wide.
 */

const bits = new DataView(new ArrayBuffer(8));

/** The key of the bucket of zero. */
export const KEY_ZERO = 1 << 21;
/** Buckets with keys from here up to KEY_END have counts in plain arrays: 2⁻³² to 2³². Others are rare. */
export const KEY_FIRST = KEY_ZERO + ((1023 - 32) << 10);
export const KEY_END = KEY_ZERO + ((1023 + 32) << 10);

/** The bucket that holds `value`, which must not be NaN. */
export function keyOf(value: number): number {
  bits.setFloat64(0, value + 0);
  const high = bits.getUint32(0);
  return (high & 0x80000000) === 0 ? ((high | 0x80000000) >>> 10) >>> 0 : (~high >>> 10) >>> 0;
}

/** The double whose sortable form has this key and, below it, all zeros or all ones. */
function edge(key: number, ones: boolean): number {
  const top = ((key << 10) >>> 0) | (ones ? 0x3ff : 0);
  const low = ones ? 0xffffffff : 0;
  if ((top & 0x80000000) === 0) {
    bits.setUint32(0, ~top >>> 0);
    bits.setUint32(4, ~low >>> 0);
  } else {
    bits.setUint32(0, (top & 0x7fffffff) >>> 0);
    bits.setUint32(4, low);
  }
  return bits.getFloat64(0);
}

/** The least value of a bucket. */
export function lowOf(key: number): number {
  return edge(key, false);
}

/** Values that were computed before; NaN = not yet. */
const usual = new Float64Array(KEY_END - KEY_FIRST).fill(Number.NaN);
const unusual = new Map<number, number>();

/** The number that represents a bucket: the one with the fewest decimal digits in it. */
export function valueIn(key: number): number {
  const place = key - KEY_FIRST;
  if (place >= 0 && place < usual.length) {
    let value = usual[place]!;
    if (Number.isNaN(value)) {
      value = representative(key);
      usual[place] = value;
    }
    return value;
  }
  let value = unusual.get(key);
  if (value === undefined) {
    value = representative(key);
    if (unusual.size > 50_000) unusual.clear();
    unusual.set(key, value);
  }
  return value;
}

function representative(key: number): number {
  const low = edge(key, false);
  const high = edge(key, true);
  return high <= 0 ? -roundest(-high, -low) : roundest(low, high);
}

/** The number of fewest decimal digits from `low` to `high`, both positive or zero. */
function roundest(low: number, high: number): number {
  if (low === 0 || !Number.isFinite(high)) return low;
  const magnitude = Math.floor(Math.log10(low));
  for (let digits = 0; digits < 6; digits++) {
    const exponent = magnitude - digits;
    let candidate: number;
    if (exponent >= 0) {
      const step = Number(`1e${exponent}`);
      candidate = Math.ceil(low / step) * step;
    } else {
      const scale = Number(`1e${-exponent}`);
      candidate = Math.ceil(low * scale) / scale;
    }
    if (candidate >= low && candidate <= high) return candidate;
  }
  return low;
}
