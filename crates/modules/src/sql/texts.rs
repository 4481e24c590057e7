//! Made-up texts for tables, many at once.

use brunt_quickjs::{Call, JsResult};

use crate::go_error::throw_go;
use crate::state::VuState;

/// The letters, as many as six bits tell apart.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Letters of all texts of a call.
const LETTERS_MAX: f64 = 1e9;

/// `randomTexts(count, length, seed)`: an array of texts of letters, digits, `-` and `_`.
///
/// # Errors
/// There are too many.
pub(super) fn random_texts<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let (count, length) = (call.argument(0).to_number()?, call.argument(1).to_number()?);
    let is_fine = |number: f64| number >= 0.0 && number.fract() == 0.0;
    if !is_fine(count) || !is_fine(length) || count * (length + 16.0) > LETTERS_MAX {
        let why = "randomTexts(count, length, seed) takes whole numbers from 0 on, for texts of a gigabyte at most in all";
        return Err(throw_go(ctx, why));
    }
    let seed = call.argument(2);
    let mut random = if seed.is_nullish() {
        fastrand::Rng::with_seed(VuState::drawn(ctx))
    } else {
        fastrand::Rng::with_seed(seed.to_integer()?.cast_unsigned())
    };
    let (count, length) = (count as u32, length as usize);
    let array = ctx.array()?;
    let mut text = vec![0; length];
    for index in 0..count {
        for part in text.chunks_mut(10) {
            let mut bits = random.u64(..);
            for letter in part {
                *letter = LETTERS[(bits & 63) as usize];
                bits >>= 6;
            }
        }
        array.set_index(index, ctx.string_from_utf8(&text)?)?;
        if index % 64 == 63 {
            ctx.poll(i32::try_from(64 + length / 4).unwrap_or(i32::MAX))?;
        }
    }
    Ok(array)
}
