//! Real work: decode, orient, scale, encode. Blocks; runs on threads that may.

use std::io::Cursor;
use std::time::{Duration, Instant};

use bytes::Bytes;
use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Rgb, RgbImage};
use serde_json::{Value, json};

use super::pipeline::{Format, Pipeline, Quality};
use super::quality;
use super::resize::{Plan, Resize};
use crate::timing::Phases;

/// The quality of a JPEG for which none is asked.
const QUALITY_DEFAULT: u8 = 80;

/// A result: bytes of a format.
#[derive(Debug)]
pub(super) struct Product {
    pub(super) bytes: Bytes,
    pub(super) content_type: &'static str,
}

/// Does what the pipeline says, and tells how long each phase took.
///
/// # Errors
/// A sentence: the picture cannot be read, or the result would be too large.
pub(super) fn process(
    source: &[u8],
    pipeline: &Pipeline,
    phases: &mut Phases,
) -> Result<Product, String> {
    let begin = Instant::now();
    let mut lap = Lap(begin);
    let (mut picture, format) = decode(source, pipeline.auto_orient).map_err(unreadable)?;
    phases.decode += lap.next();
    for resize in &pipeline.resizes {
        let plan = resize.plan((picture.width(), picture.height()))?;
        picture = fit(picture, plan, resize);
    }
    phases.resize += lap.next();
    let format = pipeline.format.unwrap_or(format);
    let quality = match pipeline.quality {
        None => QUALITY_DEFAULT,
        Some(Quality::Absolute(quality)) => quality,
        Some(Quality::Relative(percent)) => {
            let base = quality::estimate(source).unwrap_or(QUALITY_DEFAULT);
            ((u32::from(base) * u32::from(percent) + 50) / 100).clamp(1, 100) as u8
        }
    };
    let bytes = encode(&picture, format, quality).map_err(|error| error.to_string())?;
    phases.encode += lap.next();
    Ok(Product { bytes: bytes.into(), content_type: format.content_type() })
}

/// The answer of `info`: facts of the source, all as text.
pub(super) fn info(source: &[u8]) -> Result<Value, String> {
    let read = || {
        let reader = ImageReader::new(Cursor::new(source)).with_guessed_format()?;
        let format = format_of(reader.format());
        let decoder = reader.into_decoder()?;
        Ok::<_, ImageError>((format, decoder.dimensions()))
    };
    let (format, (width, height)) = read().map_err(unreadable)?;
    let value = |text: String| json!({ "value": text });
    Ok(json!({
        "FileSize": value(source.len().to_string()),
        "Format": value(format.name().to_owned()),
        "ImageHeight": value(height.to_string()),
        "ImageWidth": value(width.to_string()),
    }))
}

#[expect(clippy::needless_pass_by_value, reason = "what map_err hands over")]
fn unreadable(error: ImageError) -> String {
    format!("the picture cannot be read: {error}")
}

/// Time since it was asked last.
struct Lap(Instant);

impl Lap {
    fn next(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

fn format_of(format: Option<ImageFormat>) -> Format {
    match format {
        Some(ImageFormat::Png) => Format::Png,
        Some(ImageFormat::WebP) => Format::WebP,
        Some(ImageFormat::Gif) => Format::Gif,
        _ => Format::Jpeg,
    }
}

fn decode(source: &[u8], auto_orient: bool) -> Result<(DynamicImage, Format), ImageError> {
    let reader = ImageReader::new(Cursor::new(source)).with_guessed_format()?;
    let format = format_of(reader.format());
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    if auto_orient {
        picture.apply_orientation(orientation);
    }
    Ok((picture, format))
}

/// Scales, then cuts or pads to the frame, the picture in its middle.
fn fit(picture: DynamicImage, plan: Plan, resize: &Resize) -> DynamicImage {
    let Plan { scaled, frame } = plan;
    let picture = if scaled == (picture.width(), picture.height()) {
        picture
    } else {
        // Averaging first, down to twice the size, is several times as fast and looks the same.
        let rough = (scaled.0.saturating_mul(2), scaled.1.saturating_mul(2));
        let large = rough.0 * 2 <= picture.width() && rough.1 * 2 <= picture.height();
        let picture = if large { picture.thumbnail_exact(rough.0, rough.1) } else { picture };
        picture.resize_exact(scaled.0, scaled.1, FilterType::Lanczos3)
    };
    if frame == scaled {
        return picture;
    }
    if frame.0 <= scaled.0 && frame.1 <= scaled.1 {
        let (x, y) = ((scaled.0 - frame.0) / 2, (scaled.1 - frame.1) / 2);
        return picture.crop_imm(x, y, frame.0, frame.1);
    }
    let mut canvas = RgbImage::from_pixel(frame.0, frame.1, Rgb(resize.colour));
    let (x, y) = ((frame.0 - scaled.0) / 2, (frame.1 - scaled.1) / 2);
    image::imageops::overlay(&mut canvas, &picture.into_rgb8(), i64::from(x), i64::from(y));
    canvas.into()
}

pub(super) fn encode(
    picture: &DynamicImage,
    format: Format,
    quality: u8,
) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    match format {
        Format::Jpeg => {
            let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
            picture.to_rgb8().write_with_encoder(encoder)?;
        }
        Format::Png => picture.write_with_encoder(PngEncoder::new(&mut bytes))?,
        Format::WebP => {
            // Without loss: no pure-Rust encoder has the other kind.
            picture.to_rgba8().write_with_encoder(WebPEncoder::new_lossless(&mut bytes))?;
        }
        Format::Gif => {
            let frame = image::Frame::new(picture.to_rgba8());
            GifEncoder::new_with_speed(&mut bytes, 10).encode_frame(frame)?;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(width: u32, height: u32) -> Vec<u8> {
        let picture = RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 90]));
        encode(&picture.into(), Format::Jpeg, 90).unwrap()
    }

    fn made(source: &[u8], text: &str) -> (DynamicImage, Format, usize) {
        let pipeline = Pipeline::parse(text).unwrap();
        let product = process(source, &pipeline, &mut Phases::default()).unwrap();
        let (picture, format) = decode(&product.bytes, false).unwrap();
        assert_eq!(product.content_type, format.content_type());
        (picture, format, product.bytes.len())
    }

    #[test]
    fn the_result_has_the_size_and_format_asked_for() {
        let source = source(80, 60);
        for (text, size, format) in [
            ("image/resize,w_40", (40, 30), Format::Jpeg),
            ("image/resize,w_40,h_40,m_fill", (40, 40), Format::Jpeg),
            ("image/resize,w_40,h_40,m_pad/format,png", (40, 40), Format::Png),
            ("image/resize,p_50/format,webp", (40, 30), Format::WebP),
            ("image/resize,h_15/format,gif", (20, 15), Format::Gif),
            ("image/resize,w_40/resize,w_10/format,jpeg", (10, 8), Format::Jpeg),
            ("image/resize,w_800", (80, 60), Format::Jpeg),
        ] {
            let (picture, made, _) = made(&source, text);
            assert_eq!(((picture.width(), picture.height()), made), (size, format), "{text}");
        }
    }

    #[test]
    fn padding_has_its_colour() {
        let text = "image/resize,w_40,h_40,m_pad,color_FF0000/format,png";
        let (picture, ..) = made(&source(80, 40), text);
        let picture = picture.into_rgb8();
        assert_eq!(picture.get_pixel(20, 2).0, [255, 0, 0]);
        assert_ne!(picture.get_pixel(20, 20).0, [255, 0, 0]);
    }

    #[test]
    fn relative_quality_is_a_share_of_the_sources() {
        let source = source(80, 60);
        let of = |text: &str| {
            let pipeline = Pipeline::parse(text).unwrap();
            let product = process(&source, &pipeline, &mut Phases::default()).unwrap();
            quality::estimate(&product.bytes).unwrap()
        };
        assert!(of("image/quality,q_50").abs_diff(45) <= 1);
        assert!(of("image/quality,Q_50").abs_diff(50) <= 1);
        assert!(of("image/quality").abs_diff(72) <= 1);
        assert!(of("image/interlace,1").abs_diff(80) <= 1);
    }

    #[test]
    fn orientation_is_applied_on_demand() {
        // An EXIF segment that says "turn by 90°": TIFF header, one entry, tag 0x0112 = 6.
        let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0".to_vec();
        exif.extend([0; 4]);
        let mut turned = vec![0xFF, 0xD8, 0xFF, 0xE1];
        turned.extend((exif.len() as u16 + 2).to_be_bytes());
        turned.extend(exif);
        turned.extend(&source(80, 60)[2..]);
        let size = |text| {
            let (picture, ..) = made(&turned, text);
            (picture.width(), picture.height())
        };
        assert_eq!(size("image/auto-orient,1"), (60, 80));
        assert_eq!(size("image/auto-orient,0"), (80, 60));
    }

    #[test]
    fn facts_are_texts() {
        let source = source(80, 60);
        assert_eq!(
            info(&source).unwrap(),
            json!({
                "FileSize": { "value": source.len().to_string() },
                "Format": { "value": "jpg" },
                "ImageHeight": { "value": "60" },
                "ImageWidth": { "value": "80" },
            })
        );
        assert!(info(b"no picture").unwrap_err().contains("cannot be read"));
    }
}
