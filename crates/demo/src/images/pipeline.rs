//! The grammar of `x-oss-process`: `image/resize,w_100/quality,q_80/format,png`.
//!
//! Actions are separated by `/`, their parameters by `,`; a parameter is `key_value`. Resizes are
//! done in their order; of each other kind the last one counts.

use super::resize::{Mode, Resize};

/// Longest text that is read.
const TEXT_MAX: usize = 4096;
/// The maximum number of resizes in one pipeline.
const RESIZES_MAX: usize = 8;
/// Longest side that may be asked for.
const SIDE_MAX: u32 = 16_383;

/// The steps for a picture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pipeline {
    /// How many actions there were; with none, the object itself is wanted.
    pub(super) actions: usize,
    pub(super) resizes: Vec<Resize>,
    pub(super) quality: Option<Quality>,
    /// `None`: that of the source.
    pub(super) format: Option<Format>,
    /// Turn it as its EXIF data says.
    pub(super) auto_orient: bool,
    /// Asked for, and answered as baseline: the encoder makes no progressive JPEG.
    pub(super) interlace: bool,
    /// Tell about the source in place of making anything.
    pub(super) info: bool,
}

/// The quality of a JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quality {
    /// Percent of what the source has.
    Relative(u8),
    Absolute(u8),
}

/// A format that we read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Jpeg,
    Png,
    WebP,
    Gif,
}

impl Format {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::WebP => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// As `info` calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::WebP => "webp",
            Self::Gif => "gif",
        }
    }

    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "jpg" | "jpeg" => Self::Jpeg,
            "png" => Self::Png,
            "webp" => Self::WebP,
            "gif" => Self::Gif,
            _ => return None,
        })
    }
}

/// The quality for a `quality` without a number, as in the reference.
const QUALITY_UNSAID: u8 = 72;

impl Pipeline {
    /// Reads a whole value of `x-oss-process`, which begins with `image`.
    ///
    /// # Errors
    /// A sentence that names the action or parameter that cannot be.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > TEXT_MAX {
            return Err(format!("the actions are longer than {TEXT_MAX} bytes"));
        }
        let mut parts = text.split('/').filter(|part| !part.is_empty());
        match parts.next() {
            Some("image") => {}
            Some(other) => return Err(format!("there is no processor '{other}': use 'image'")),
            None => return Err("no processor is named: use 'image/…'".to_owned()),
        }
        let mut pipeline = Self::default();
        for action in parts {
            pipeline.add(action)?;
            pipeline.actions += 1;
        }
        Ok(pipeline)
    }

    fn add(&mut self, action: &str) -> Result<(), String> {
        let mut words = action.split(',');
        let name = words.next().unwrap_or_default();
        let mut parameters = words.filter(|word| !word.is_empty());
        match name {
            "resize" => {
                if self.resizes.len() == RESIZES_MAX {
                    return Err(format!("more than {RESIZES_MAX} resizes"));
                }
                let mut resize = Resize::default();
                parameters.try_for_each(|word| set(&mut resize, word))?;
                self.resizes.push(resize);
            }
            "quality" => {
                let mut quality = Quality::Absolute(QUALITY_UNSAID);
                for word in parameters {
                    quality = match word.split_once('_') {
                        Some(("q", n)) => Quality::Relative(number(word, n, 1, 100)? as u8),
                        Some(("Q", n)) => Quality::Absolute(number(word, n, 1, 100)? as u8),
                        _ => return Err(unknown("quality", word)),
                    };
                }
                self.quality = Some(quality);
            }
            "format" => {
                let word = only(name, parameters)?;
                let format = Format::read(word)
                    .ok_or_else(|| format!("format cannot be '{word}': jpg, png, webp or gif"))?;
                self.format = Some(format);
            }
            "auto-orient" => self.auto_orient = switch(name, only(name, parameters)?)?,
            "interlace" => self.interlace = switch(name, only(name, parameters)?)?,
            "info" => match parameters.next() {
                None => self.info = true,
                Some(word) => return Err(unknown(name, word)),
            },
            _ => return Err(format!("there is no action '{name}'")),
        }
        Ok(())
    }
}

/// One parameter of `resize`.
fn set(resize: &mut Resize, word: &str) -> Result<(), String> {
    let Some((key, value)) = word.split_once('_') else {
        return Err(unknown("resize", word));
    };
    let side = || number(word, value, 1, SIDE_MAX).map(Some);
    match key {
        "w" => resize.width = side()?,
        "h" => resize.height = side()?,
        "l" => resize.long_side = side()?,
        "s" => resize.short_side = side()?,
        "p" => resize.percent = Some(number(word, value, 1, 1000)?),
        "m" => {
            resize.mode = match value {
                "lfit" => Mode::Inside,
                "mfit" => Mode::Outside,
                "fill" => Mode::Cover,
                "pad" => Mode::Pad,
                "fixed" => Mode::Exact,
                _ => {
                    return Err(format!(
                        "resize: '{word}' cannot be; lfit, mfit, fill, pad or fixed"
                    ));
                }
            }
        }
        "limit" => resize.limit = switch("limit", value)?,
        "color" => {
            resize.colour = colour(value)
                .ok_or_else(|| format!("resize: '{word}' is not a colour such as color_FF8000"))?;
        }
        _ => return Err(unknown("resize", word)),
    }
    Ok(())
}

fn number(word: &str, text: &str, least: u32, most: u32) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value: Option<u32> = if digits { text.parse().ok() } else { None };
    value
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| format!("'{word}' must have a whole number from {least} to {most}"))
}

fn switch(name: &str, text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("{name} cannot be '{text}': 0 or 1")),
    }
}

fn colour(text: &str) -> Option<[u8; 3]> {
    if text.len() != 6 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let [_, red, green, blue] = u32::from_str_radix(text, 16).ok()?.to_be_bytes();
    Some([red, green, blue])
}

fn only<'a>(name: &str, mut words: impl Iterator<Item = &'a str>) -> Result<&'a str, String> {
    match (words.next(), words.next()) {
        (Some(word), None) => Ok(word),
        _ => Err(format!("{name} takes one parameter")),
    }
}

fn unknown(action: &str, word: &str) -> String {
    format!("{action} has no parameter '{word}'")
}

/// A named pipeline. `None`: there is none of this name.
pub(super) fn style(name: &str) -> Option<&'static str> {
    Some(match name {
        "box100" => "image/resize,w_100,h_100,m_fixed,limit_0",
        "box200" => "image/resize,w_200,h_200,m_fixed,limit_0",
        "thumb" => "image/resize,l_160/quality,Q_70",
        _ => return None,
    })
}

/// Whether a style could have this name: 1 to 63 of `A–Z a–z 0–9 _ . -`.
pub(super) fn is_style_name(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmarks_pipeline_is_read() {
        let text = "image/resize,w_137/quality,q_80/auto-orient,0/interlace,1/format,jpg";
        let pipeline = Pipeline::parse(text).unwrap();
        let resize = Resize { width: Some(137), ..Resize::default() };
        assert_eq!(
            pipeline,
            Pipeline {
                actions: 5,
                resizes: vec![resize],
                quality: Some(Quality::Relative(80)),
                format: Some(Format::Jpeg),
                auto_orient: false,
                interlace: true,
                info: false,
            }
        );
    }

    #[test]
    fn every_parameter_of_resize_is_read() {
        let text = "image/resize,w_1,h_2,l_3,s_4,p_5,m_pad,limit_0,color_fF8001";
        let resize = &Pipeline::parse(text).unwrap().resizes[0];
        let expected = Resize {
            width: Some(1),
            height: Some(2),
            long_side: Some(3),
            short_side: Some(4),
            percent: Some(5),
            mode: Mode::Pad,
            limit: false,
            colour: [255, 128, 1],
        };
        assert_eq!(*resize, expected);
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, part) in [
            ("", "no processor"),
            ("video/snapshot", "'video'"),
            ("image/explode", "'explode'"),
            ("image/resize,x_1", "'x_1'"),
            ("image/resize,w_0", "'w_0'"),
            ("image/resize,w_-1", "'w_-1'"),
            ("image/resize,w_1.5", "'w_1.5'"),
            ("image/resize,w_99999999999", "1 to 16383"),
            ("image/resize,w", "'w'"),
            ("image/resize,p_1001", "1 to 1000"),
            ("image/resize,m_best", "'m_best'"),
            ("image/resize,limit_2", "limit cannot be '2'"),
            ("image/resize,color_12345", "'color_12345'"),
            ("image/quality,q_0", "1 to 100"),
            ("image/quality,q_101", "1 to 100"),
            ("image/quality,z_1", "'z_1'"),
            ("image/format,bmp", "'bmp'"),
            ("image/format", "one parameter"),
            ("image/auto-orient,2", "0 or 1"),
            ("image/interlace,yes", "0 or 1"),
            ("image/info,1", "'1'"),
        ] {
            let refusal = Pipeline::parse(text).unwrap_err();
            assert!(refusal.contains(part), "{text}: {refusal}");
        }
        let many = format!("image/{}", "resize,w_1/".repeat(9));
        assert!(Pipeline::parse(&many).unwrap_err().contains("8 resizes"));
        assert!(Pipeline::parse(&"x".repeat(5000)).is_err());
    }

    #[test]
    fn every_style_is_a_pipeline() {
        for name in ["box100", "box200", "thumb"] {
            assert!(is_style_name(name));
            assert!(Pipeline::parse(style(name).unwrap()).is_ok());
        }
        assert!(style("none").is_none());
        assert!(!is_style_name("") && !is_style_name("a/b") && !is_style_name(&"x".repeat(64)));
    }

    #[test]
    fn no_text_upsets_the_reader() {
        let mut dice = fastrand::Rng::with_seed(7);
        let pieces =
            ["image", "/", "resize", ",", "w_", "1", "é", "_", "quality", "q_", "999", "color_"];
        for _ in 0..20_000 {
            let text: String =
                (0..dice.usize(..12)).map(|_| pieces[dice.usize(..pieces.len())]).collect();
            // Whether it is accepted matters less than that it is decided.
            let _ = Pipeline::parse(&text);
        }
    }
}
