//! The addresses that VUs connect from.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;

use crate::value::text_value;

/// The `--local-ips` pool: single addresses, ranges `a-b`, networks. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalIps {
    text: String,
    blocks: Vec<Block>,
}

/// Neighbouring addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    is_v6: bool,
    first: u128,
    /// More than 0; that of `::/0` is cut by one.
    count: u128,
}

impl LocalIps {
    /// How many addresses there are, at least 1; at most `u128::MAX`.
    pub fn count(&self) -> u128 {
        self.blocks.iter().fold(0, |sum: u128, block| sum.saturating_add(block.count))
    }

    /// The address of the VU with this id (from 1): they take turns.
    pub fn of_vu(&self, id: u64) -> IpAddr {
        let mut index = u128::from(id.saturating_sub(1)) % self.count();
        for block in &self.blocks {
            if index < block.count {
                return block.at(index);
            }
            index -= block.count;
        }
        self.blocks[0].at(0)
    }
}

impl Block {
    fn at(&self, index: u128) -> IpAddr {
        let number = self.first + index;
        if self.is_v6 {
            IpAddr::V6(Ipv6Addr::from(number))
        } else {
            IpAddr::V4(Ipv4Addr::from(number as u32))
        }
    }
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(u32::from(ip)),
        IpAddr::V6(ip) => u128::from(ip),
    }
}

impl FromStr for Block {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected an IP address, a range a-b or a CIDR, got {text:?}");
        let (first, last) = if let Some((first, last)) = text.split_once('-') {
            let address = |text: &str| text.parse().map_err(|_| wrong());
            (address(first)?, address(last)?)
        } else if text.contains('/') {
            let net: IpNet = text.parse().map_err(|_| wrong())?;
            let block = Self::between(net.network(), net.broadcast());
            // Of an IPv4 network, its own and the broadcast address are left out, as in k6.
            if block.is_v6 || block.count <= 2 {
                return Ok(block);
            }
            return Ok(Self { first: block.first + 1, count: block.count - 2, ..block });
        } else {
            let address: IpAddr = text.parse().map_err(|_| wrong())?;
            (address, address)
        };
        if first.is_ipv6() != last.is_ipv6() || number(first) > number(last) {
            return Err(wrong());
        }
        Ok(Self::between(first, last))
    }
}

impl Block {
    fn between(first: IpAddr, last: IpAddr) -> Self {
        let count = (number(last) - number(first)).saturating_add(1);
        Self { is_v6: first.is_ipv6(), first: number(first), count }
    }
}

impl FromStr for LocalIps {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let blocks = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), blocks })
    }
}

impl fmt::Display for LocalIps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

text_value!(LocalIps);

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(text: &str) -> Vec<String> {
        let pool: LocalIps = text.parse().unwrap();
        (1..=pool.count() as u64).map(|id| pool.of_vu(id).to_string()).collect()
    }

    #[test]
    fn networks_lose_their_ends_unless_they_are_tiny() {
        // As k6 1.8.1 connects.
        assert_eq!(pool("127.0.0.9/29").join(" ").matches(' ').count(), 5);
        assert_eq!(pool("127.0.0.8/30"), ["127.0.0.9", "127.0.0.10"]);
        assert_eq!(pool("127.0.0.5/31"), ["127.0.0.4", "127.0.0.5"]);
        assert_eq!(pool("127.0.0.5/32"), ["127.0.0.5"]);
        assert_eq!(pool("::4/127"), ["::4", "::5"]);
    }

    #[test]
    fn vus_take_turns_over_all_blocks() {
        let ips: LocalIps = "127.0.0.1-127.0.0.2,::1".parse().unwrap();
        let of = |id| ips.of_vu(id).to_string();
        assert_eq!([of(1), of(2), of(3), of(4)], ["127.0.0.1", "127.0.0.2", "::1", "127.0.0.1"]);
        let all: LocalIps = "::/0".parse().unwrap();
        assert_eq!(all.of_vu(2).to_string(), "::1");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "x", "1.1.1.1-", "1.1.1.2-1.1.1.1", "1.1.1.1-::1", "1.1.1.1/33", "1.1.1.1,"]
        {
            assert!(text.parse::<LocalIps>().is_err(), "{text}");
        }
    }
}
