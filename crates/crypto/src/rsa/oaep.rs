//! RSA-OAEP (RFC 8017, 7.1), with labels of any bytes, as the API has them.

use rsa::hazmat::{rsa_decrypt_and_check, rsa_encrypt};
use rsa::rand_core::{OsRng, RngCore as _};
use rsa::traits::PublicKeyParts as _;
use rsa::{BigUint, RsaPrivateKey, RsaPublicKey};

use crate::{Hash, Random};

/// MGF1: writes a mask that a seed makes over these bytes.
fn mask(hash: Hash, seed: &[u8], bytes: &mut [u8]) {
    let size = hash.digest(b"").len();
    for (counter, piece) in bytes.chunks_mut(size).enumerate() {
        let counter = u32::try_from(counter).expect("a key has fewer pieces").to_be_bytes();
        for (byte, mask) in piece.iter_mut().zip(hash.digest(&[seed, &counter].concat())) {
            *byte ^= mask;
        }
    }
}

fn to_size(number: &BigUint, size: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    let mut all = vec![0; size.saturating_sub(bytes.len())];
    all.extend(bytes);
    all
}

/// `None` if the message is too long for the key.
pub(super) fn encrypt(
    key: &RsaPublicKey,
    hash: Hash,
    label: &[u8],
    plain: &[u8],
    random: &mut Random,
) -> Option<Vec<u8>> {
    let (size, digest) = (key.size(), hash.digest(label));
    let room = size.checked_sub(2 * digest.len() + 2)?;
    let zeros = room.checked_sub(plain.len())?;
    let mut seed = vec![0; digest.len()];
    random.try_fill_bytes(&mut seed).ok()?;
    let mut block = digest;
    block.resize(block.len() + zeros, 0);
    block.push(1);
    block.extend_from_slice(plain);
    mask(hash, &seed, &mut block);
    mask(hash, &block, &mut seed);
    let whole = [&[0], seed.as_slice(), &block].concat();
    let encrypted = rsa_encrypt(key, &BigUint::from_bytes_be(&whole)).ok()?;
    Some(to_size(&encrypted, size))
}

/// `None` if anything is not as [`encrypt`] makes it; callers must not learn what.
pub(super) fn decrypt(
    key: &RsaPrivateKey,
    hash: Hash,
    label: &[u8],
    encrypted: &[u8],
) -> Option<Vec<u8>> {
    let (size, digest) = (key.size(), hash.digest(label));
    if encrypted.len() != size || size < 2 * digest.len() + 2 {
        return None;
    }
    let number = BigUint::from_bytes_be(encrypted);
    let number = rsa_decrypt_and_check(key, Some(&mut OsRng), &number).ok()?;
    let mut whole = to_size(&number, size);
    let (first, rest) = whole.split_first_mut()?;
    let (seed, block) = rest.split_at_mut(digest.len());
    mask(hash, block, seed);
    mask(hash, seed, block);
    let (label, message) = block.split_at(digest.len());
    let differs = label.iter().zip(&digest).fold(*first, |seen, (a, b)| seen | (a ^ b));
    let start = message.iter().position(|byte| *byte != 0)?;
    (differs == 0 && message[start] == 1).then(|| message[start + 1..].to_vec())
}
