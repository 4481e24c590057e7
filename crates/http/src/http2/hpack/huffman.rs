//! The code of RFC 7541, appendix B, and a machine that reads it four bits at a time.

use std::sync::LazyLock;

/// How many bits the code of each byte has; the end of the string comes last. The code is canonical: in the order of
/// length, then byte, each code is the last one plus one.
#[rustfmt::skip]
const BITS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

/// The code of each byte.
fn codes() -> [u32; 257] {
    let mut codes = [0; 257];
    let (mut next, mut last) = (0_u32, 0);
    let mut order: Vec<usize> = (0..BITS.len()).collect();
    order.sort_by_key(|&byte| BITS[byte]);
    for byte in order {
        next <<= BITS[byte] - last;
        last = BITS[byte];
        codes[byte] = next;
        next += 1;
    }
    codes
}

/// The effect of four bits in one state.
#[derive(Clone, Copy, Default)]
struct Step {
    next: u8,
    byte: u8,
    /// The byte is whole. At most one can be: no code is shorter than five bits.
    emits: bool,
    /// No code goes on so.
    fails: bool,
    /// The text may end here: what is open is the beginning of the end's code, and shorter than a byte.
    may_end: bool,
}

/// By state.
type Machine = Box<[[Step; 16]]>;

static MACHINE: LazyLock<Machine> = LazyLock::new(machine);

/// The tree of all codes, with its 256 inner nodes as states.
fn machine() -> Machine {
    const NONE: u16 = u16::MAX;
    /// Leaves are numbered from here.
    const LEAF: u16 = 1000;
    const END: u16 = LEAF + 256;
    let mut nodes = vec![[NONE; 2]];
    for (byte, code) in codes().into_iter().enumerate() {
        let mut at = 0;
        for bit in (0..BITS[byte]).rev() {
            let side = (code >> bit & 1) as usize;
            if bit == 0 {
                nodes[at][side] = LEAF + byte as u16;
            } else {
                if nodes[at][side] == NONE {
                    nodes[at][side] = nodes.len() as u16;
                    nodes.push([NONE; 2]);
                }
                at = nodes[at][side] as usize;
            }
        }
    }
    // The states up to seven bits into the end's code.
    let mut may_end = [false; 256];
    let mut at = 0;
    for _ in 0..8 {
        may_end[at] = true;
        at = nodes[at][1] as usize;
    }
    let mut machine = vec![[Step::default(); 16]; 256].into_boxed_slice();
    for (state, steps) in machine.iter_mut().enumerate() {
        for (bits, step) in steps.iter_mut().enumerate() {
            let mut at = state;
            for bit in (0..4).rev() {
                at = match nodes[at][bits >> bit & 1] {
                    NONE | END => {
                        step.fails = true;
                        break;
                    }
                    leaf if leaf >= LEAF => {
                        step.emits = true;
                        step.byte = (leaf - LEAF) as u8;
                        0
                    }
                    inner => inner as usize,
                };
            }
            step.next = at as u8;
            step.may_end = may_end[at];
        }
    }
    machine
}

/// Decodes to the end of `out`. `None`: it is no such text.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let machine = &*MACHINE;
    let (mut state, mut may_end) = (0_u8, true);
    for byte in coded {
        for bits in [byte >> 4, byte & 15] {
            let step = machine[state as usize][bits as usize];
            if step.fails {
                return None;
            }
            if step.emits {
                out.push(step.byte);
            }
            state = step.next;
            may_end = step.may_end;
        }
    }
    may_end.then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(text: &[u8]) -> Vec<u8> {
        let codes = codes();
        let (mut out, mut open, mut count) = (Vec::new(), 0_u64, 0);
        for &byte in text {
            open = open << BITS[byte as usize] | u64::from(codes[byte as usize]);
            count += BITS[byte as usize];
            while count >= 8 {
                count -= 8;
                out.push((open >> count) as u8);
            }
        }
        if count > 0 {
            out.push((open << (8 - count)) as u8 | 0xff >> count);
        }
        out
    }

    #[test]
    fn every_byte_survives_there_and_back() {
        let all: Vec<u8> = (0..=255).collect();
        for text in [&b""[..], b"a", b"www.example.com", &all] {
            let mut out = Vec::new();
            assert_eq!(decode(&encode(text), &mut out), Some(()));
            assert_eq!(out, text);
        }
    }

    /// RFC 7541 C.4.1.
    #[test]
    fn the_example_of_the_rfc_is_read() {
        let coded = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        let mut out = Vec::new();
        assert_eq!(decode(&coded, &mut out), Some(()));
        assert_eq!(out, b"www.example.com");
    }

    #[test]
    fn padding_is_ones_and_shorter_than_a_byte() {
        // "a" is 00011: padded with zeros, or with a byte too much.
        assert_eq!(decode(&[0b0001_1000], &mut Vec::new()), None);
        assert_eq!(decode(&[0b0001_1111, 0xff], &mut Vec::new()), None);
        assert_eq!(decode(&[0xff; 4], &mut Vec::new()), None);
    }
}
