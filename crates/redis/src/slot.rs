//! Which of a cluster's 16384 slots a key lives in.

/// The slot of a key: CRC-16 (XMODEM) of it, or of the text between its first braces.
pub(crate) fn of(key: &[u8]) -> u16 {
    let mut crc = 0_u16;
    for &byte in hashed(key) {
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
        }
    }
    crc % 16_384
}

fn hashed(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else { return key };
    let inside = &key[open + 1..];
    match inside.iter().position(|&byte| byte == b'}') {
        None | Some(0) => key,
        Some(end) => &inside[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // From Redis' own specification of clusters.
    #[test]
    fn keys_lie_where_redis_puts_them() {
        assert_eq!(of(b"123456789"), 0x31C3);
        assert_eq!(of(b"foo"), 12_182);
        assert_eq!(of(b"{user1000}.following"), of(b"{user1000}.followers"));
        assert_eq!(of(b"foo{}{bar}"), of(b"foo{}{bar}"));
        assert_ne!(of(b"foo{}{bar}"), of(b"bar"));
        assert_eq!(of(b"foo{bar}{zap}"), of(b"bar"));
    }
}
