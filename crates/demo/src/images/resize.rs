//! The arithmetic of `resize`: from what was asked and the picture's size to what is to be done.

/// How a picture is fitted into a box. With one side given alone, all of them keep the ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    /// The largest that fits inside.
    #[default]
    Inside,
    /// The smallest that covers the box; nothing is cut off.
    Outside,
    /// The same, and the parts outside the box are cut off, evenly.
    Cover,
    /// The largest that fits inside, and colour around it up to the box.
    Pad,
    /// Exactly the box, whatever becomes of the ratio.
    Exact,
}

/// The arguments of `resize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resize {
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
    pub(super) long_side: Option<u32>,
    pub(super) short_side: Option<u32>,
    /// 1 to 1000; counts only when neither width nor height is given, and may enlarge.
    pub(super) percent: Option<u32>,
    pub(super) mode: Mode,
    /// Never enlarge.
    pub(super) limit: bool,
    /// Red, green, blue around a padded picture.
    pub(super) colour: [u8; 3],
}

impl Default for Resize {
    fn default() -> Self {
        Self {
            width: None,
            height: None,
            long_side: None,
            short_side: None,
            percent: None,
            mode: Mode::Inside,
            limit: true,
            colour: [255; 3],
        }
    }
}

/// The steps: scale, then perhaps cut or pad to a frame, the picture in its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) scaled: (u32, u32),
    pub(super) frame: (u32, u32),
}

/// Pixels that a result may have.
pub(super) const PIXELS_MAX: u64 = 16 << 20;
/// Longest side of a result; WebP takes no more.
const SIDE_MAX: f64 = 16_383.0;

impl Resize {
    /// The plan for a picture of this size.
    ///
    /// # Errors
    /// A sentence, if the result would be larger than any that we make.
    pub(super) fn plan(&self, (width, height): (u32, u32)) -> Result<Plan, String> {
        let (w, h) = (f64::from(width.max(1)), f64::from(height.max(1)));
        let plan = if let (Some(percent), None, None) = (self.percent, self.width, self.height) {
            let factor = f64::from(percent) / 100.0;
            Plan::whole(w * factor, h * factor)
        } else {
            self.boxed(w, h)
        };
        for (w, h) in [plan.scaled, plan.frame] {
            let (w, h) = (u64::from(w), u64::from(h));
            if w * h > PIXELS_MAX || w.max(h) as f64 > SIDE_MAX {
                return Err(format!("the result would be too large: {w} x {h} pixels"));
            }
        }
        Ok(plan)
    }

    /// Width and height of the box: long and short side say them by the picture's own shape.
    fn wanted(&self, w: f64, h: f64) -> (Option<f64>, Option<f64>) {
        let (mut width, mut height) = (self.width, self.height);
        if let Some(long) = self.long_side {
            *(if w > h { &mut width } else { &mut height }) = Some(long);
        }
        if let Some(short) = self.short_side {
            *(if h < w { &mut height } else { &mut width }) = Some(short);
        }
        (width.map(f64::from), height.map(f64::from))
    }

    fn boxed(&self, w: f64, h: f64) -> Plan {
        let (across, down) = match self.wanted(w, h) {
            (None, None) => return Plan::whole(w, h),
            (Some(across), None) => (across, across * h / w),
            (None, Some(down)) => (down * w / h, down),
            (Some(across), Some(down)) => (across, down),
        };
        let most = if self.limit { 1.0 } else { f64::INFINITY };
        let inside = (across / w).min(down / h).min(most);
        let outside = (across / w).max(down / h).min(most);
        match self.mode {
            Mode::Inside => Plan::whole(w * inside, h * inside),
            Mode::Outside => Plan::whole(w * outside, h * outside),
            Mode::Exact if self.limit => Plan::whole(across.min(w), down.min(h)),
            Mode::Exact => Plan::whole(across, down),
            Mode::Cover => {
                let scaled = pixels(w * outside, h * outside);
                let frame = pixels(across, down);
                Plan { scaled, frame: (frame.0.min(scaled.0), frame.1.min(scaled.1)) }
            }
            Mode::Pad => {
                let scaled = pixels(w * inside, h * inside);
                let frame = pixels(across, down);
                Plan { scaled, frame: (frame.0.max(scaled.0), frame.1.max(scaled.1)) }
            }
        }
    }
}

impl Plan {
    fn whole(w: f64, h: f64) -> Self {
        let scaled = pixels(w, h);
        Self { scaled, frame: scaled }
    }
}

/// Nothing is thinner than one pixel.
fn pixels(w: f64, h: f64) -> (u32, u32) {
    (w.round().max(1.0) as u32, h.round().max(1.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(change: impl FnOnce(&mut Resize), size: (u32, u32)) -> ((u32, u32), (u32, u32)) {
        let mut resize = Resize::default();
        change(&mut resize);
        let Plan { scaled, frame } = resize.plan(size).unwrap();
        (scaled, frame)
    }

    #[test]
    fn one_side_alone_keeps_the_ratio_in_every_mode() {
        for mode in [Mode::Inside, Mode::Outside, Mode::Cover, Mode::Pad, Mode::Exact] {
            let made = plan(
                |r| {
                    r.width = Some(100);
                    r.mode = mode;
                },
                (400, 300),
            );
            assert_eq!(made, ((100, 75), (100, 75)), "{mode:?}");
        }
        assert_eq!(plan(|r| r.height = Some(75), (400, 300)).0, (100, 75));
    }

    #[test]
    fn each_mode_treats_a_box_its_own_way() {
        let boxed = |mode| {
            plan(
                |r| {
                    (r.width, r.height) = (Some(100), Some(100));
                    r.mode = mode;
                },
                (400, 200),
            )
        };
        assert_eq!(boxed(Mode::Inside), ((100, 50), (100, 50)));
        assert_eq!(boxed(Mode::Outside), ((200, 100), (200, 100)));
        assert_eq!(boxed(Mode::Cover), ((200, 100), (100, 100)));
        assert_eq!(boxed(Mode::Pad), ((100, 50), (100, 100)));
        assert_eq!(boxed(Mode::Exact), ((100, 100), (100, 100)));
    }

    #[test]
    fn the_limit_forbids_to_enlarge() {
        let large = |mode, limit| {
            plan(
                |r| {
                    (r.width, r.height) = (Some(800), Some(800));
                    (r.mode, r.limit) = (mode, limit);
                },
                (400, 200),
            )
        };
        assert_eq!(large(Mode::Inside, true).0, (400, 200));
        assert_eq!(large(Mode::Inside, false).0, (800, 400));
        assert_eq!(large(Mode::Cover, true).1, (400, 200));
        assert_eq!(large(Mode::Cover, false), ((1600, 800), (800, 800)));
        assert_eq!(large(Mode::Pad, true), ((400, 200), (800, 800)));
        assert_eq!(large(Mode::Exact, true).0, (400, 200));
        assert_eq!(large(Mode::Exact, false).0, (800, 800));
    }

    #[test]
    fn sides_follow_the_pictures_shape() {
        assert_eq!(plan(|r| r.long_side = Some(100), (400, 200)).0, (100, 50));
        assert_eq!(plan(|r| r.long_side = Some(100), (200, 400)).0, (50, 100));
        assert_eq!(plan(|r| r.short_side = Some(100), (400, 200)).0, (200, 100));
        assert_eq!(plan(|r| r.short_side = Some(100), (200, 400)).0, (100, 200));
    }

    #[test]
    fn percent_may_enlarge_and_gives_way_to_a_width() {
        assert_eq!(plan(|r| r.percent = Some(150), (400, 200)).0, (600, 300));
        assert_eq!(plan(|r| r.percent = Some(1), (40, 20)).0, (1, 1));
        let both = |r: &mut Resize| (r.percent, r.width) = (Some(150), Some(100));
        assert_eq!(plan(both, (400, 200)).0, (100, 50));
    }

    #[test]
    fn a_giant_is_refused() {
        let giant = Resize { percent: Some(1000), ..Resize::default() };
        assert!(giant.plan((1440, 1080)).unwrap_err().contains("14400 x 10800"));
        let thin = Resize { percent: Some(1000), ..Resize::default() };
        assert!(thin.plan((4000, 1)).is_err());
    }
}
