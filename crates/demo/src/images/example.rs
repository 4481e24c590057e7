//! The built-in picture: hills under a sky, drawn by arithmetic, the same in every run.

use image::{Rgb, RgbImage};

use super::codec;
use super::pipeline::Format;

/// Quality of the built-in picture: what `quality,q_` counts from.
const QUALITY: u8 = 90;

/// `example.jpg` in this size, as a JPEG.
pub(super) fn draw(width: u32, height: u32) -> Vec<u8> {
    let mut dice = fastrand::Rng::with_seed(99);
    let hills = [(0.50, 0.10, 5.0, 0.3), (0.62, 0.08, 9.0, 1.1), (0.76, 0.06, 13.0, 2.9)];
    let tones = [[122.0, 150.0, 160.0], [78.0, 118.0, 96.0], [44.0, 82.0, 52.0]];
    let picture = RgbImage::from_fn(width, height, |x, y| {
        let (u, v) = (f32_of(x, width), f32_of(y, height));
        let sun = ((u - 0.72).powi(2) + ((v - 0.22) * 0.75).powi(2)).sqrt();
        let mut tone = if sun < 0.05 {
            [255.0, 244.0, 200.0]
        } else {
            let glow = (0.05 / sun).min(1.0) * 60.0;
            [90.0 + 90.0 * v + glow, 140.0 + 60.0 * v + glow * 0.8, 215.0 - 20.0 * v]
        };
        let mut rough = 2.0;
        for ((level, swing, waves, shift), colour) in hills.iter().zip(tones) {
            let ridge: f32 = level
                + swing * (u * waves + shift).sin()
                + swing * 0.3 * (u * waves * 3.7 + shift).sin();
            if v > ridge {
                let depth = 1.0 - (v - ridge) * 0.8;
                // Trees: bumps that stay visible when the picture is small.
                let trees = (u * 260.0 + shift).sin() * (v * 170.0 + u * 40.0 * shift).sin();
                let depth = depth * (1.0 + 0.22 * trees);
                tone = colour.map(|part: f32| part * depth);
                rough = 14.0;
            }
        }
        // Grain, so that the picture compresses as photographs do.
        let grain = (dice.f32() - 0.5) * rough;
        Rgb(tone.map(|part| (part + grain).clamp(0.0, 255.0) as u8))
    });
    codec::encode(&picture.into(), Format::Jpeg, QUALITY)
        .expect("a picture of at least one pixel can be encoded")
}

fn f32_of(at: u32, size: u32) -> f32 {
    at as f32 / size as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_each_time() {
        let first = draw(64, 48);
        assert_eq!(first, draw(64, 48));
        assert_eq!(codec::info(&first).unwrap()["ImageWidth"]["value"], "64");
    }
}
