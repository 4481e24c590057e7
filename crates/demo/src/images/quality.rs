//! The quality that a JPEG was written with, guessed from its quantisation table.

/// Sum of the luminance table of T.81 annex K, which is that of quality 50.
const STANDARD_SUM: u32 = 3688;

/// The quality, 1 to 100, on the usual scale; `None` if `jpeg` shows no table.
///
/// Encoders scale one standard table up or down; the sum of it tells by how much, in whatever order
/// its 64 numbers stand. Numbers end at 255, so that what is below 25 or so is taken for somewhat more.
pub(super) fn estimate(jpeg: &[u8]) -> Option<u8> {
    let percent = f64::from(luminance_sum(jpeg)?) * 100.0 / f64::from(STANDARD_SUM);
    let quality = if percent > 100.0 { 5000.0 / percent } else { (200.0 - percent) / 2.0 };
    Some(quality.round().clamp(1.0, 100.0) as u8)
}

/// The sum of table 0. Reads segments up to the picture's data; a broken one ends the search.
fn luminance_sum(jpeg: &[u8]) -> Option<u32> {
    let mut rest = jpeg.strip_prefix(&[0xFF, 0xD8])?;
    loop {
        let [0xFF, marker, high, low, ..] = *rest else {
            return None;
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let body = rest.get(4..2 + length)?;
        match marker {
            0xDB => {
                if let Some(sum) = table_zero(body) {
                    return Some(sum);
                }
            }
            // Start of scan: what follows are no segments.
            0xDA => return None,
            _ => {}
        }
        rest = rest.get(2 + length..)?;
    }
}

/// One segment may hold several tables, of one or two bytes a number.
fn table_zero(mut body: &[u8]) -> Option<u32> {
    while let [head, numbers @ ..] = body {
        let wide = head >> 4 != 0;
        let size = if wide { 128 } else { 64 };
        let table = numbers.get(..size)?;
        if head % 16 == 0 {
            return Some(if wide {
                table.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum()
            } else {
                table.iter().map(|number| u32::from(*number)).sum()
            });
        }
        body = &numbers[size..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_with(quality: u8) -> Vec<u8> {
        let picture = image::RgbImage::from_pixel(8, 8, image::Rgb([1, 2, 3]));
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, quality);
        picture.write_with_encoder(encoder).unwrap();
        jpeg
    }

    #[test]
    fn the_quality_is_found_again() {
        for quality in [30, 40, 50, 72, 80, 90, 95, 100] {
            let found = estimate(&written_with(quality)).unwrap();
            assert!(found.abs_diff(quality) <= 1, "{quality} was taken for {found}");
        }
    }

    #[test]
    fn broken_files_have_none() {
        let whole = written_with(80);
        for end in [0, 1, 2, 3, 5, 30] {
            assert_eq!(estimate(&whole[..end]), None, "{end}");
        }
        assert_eq!(estimate(b"\xFF\xD8\xFF\xDB\x00\x00"), None);
        assert_eq!(estimate(b"\x89PNG\r\n"), None);
    }
}
