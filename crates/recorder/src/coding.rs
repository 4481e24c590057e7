//! Content codings, taken off the copies of bodies.

use std::sync::Arc;

use brunt_traffic::{Body, Headers, coding};

use crate::store::{Keeper, Store};

/// Of a packed body that is larger, or of one that is larger when it is unpacked, only the size is kept.
const UNPACKED_MAX: u64 = 64 << 20;

/// The body without its codings.
pub(crate) fn decoded(body: Body, headers: &Headers, store: &Arc<Store>, limit: u64) -> Body {
    let codings: Vec<&str> = headers.all("content-encoding").collect();
    if codings.is_empty() || matches!(body, Body::Empty | Body::Absent { .. }) {
        return body;
    }
    let limit = limit.min(UNPACKED_MAX);
    let size = body.size();
    if size.is_some_and(|size| size > limit) {
        Keeper::forget(store, body);
        return Body::Absent {
            why: format!("packed, it is larger than {} MiB", limit >> 20),
            size,
        };
    }
    let unpacked = body.read().map_err(|error| error.to_string()).and_then(|bytes| {
        coding::undo(&codings.join(", "), &bytes, limit).map_err(|error| error.to_string())
    });
    Keeper::forget(store, body);
    match unpacked {
        Ok(bytes) => {
            let mut keeper = Keeper::new(store, limit);
            keeper.push(&bytes);
            keeper.finish()
        }
        Err(why) => Body::Absent { why, size },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;

    fn plain(packed: Vec<u8>, coding: &str, limit: u64) -> Body {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), Limits::default());
        let headers = Headers(vec![("Content-Encoding".to_owned(), coding.to_owned())]);
        decoded(Body::Bytes(packed.into()), &headers, &store, limit)
    }

    fn packed(plain: &[u8]) -> Vec<u8> {
        use std::io::Write as _;
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(plain).unwrap();
        to.finish().unwrap()
    }

    #[test]
    fn codings_are_taken_off() {
        assert_eq!(plain(packed(b"a page"), "gzip", 1000).in_memory(), Some(&b"a page"[..]));
        assert_eq!(plain(b"a page".to_vec(), "identity", 1000).in_memory(), Some(&b"a page"[..]));
    }

    #[test]
    fn a_bomb_ends_at_the_limit_and_damage_is_told() {
        let bomb = plain(packed(&vec![0; 10 << 20]), "gzip", 1 << 20);
        assert!(matches!(bomb, Body::Absent { .. }), "{bomb:?}");
        for coding in ["gzip", "br", "zstd", "dcb"] {
            let body = plain(b"\xffno such thing".to_vec(), coding, 1000);
            assert!(matches!(body, Body::Absent { size: Some(14), .. }), "{coding}: {body:?}");
        }
    }
}
