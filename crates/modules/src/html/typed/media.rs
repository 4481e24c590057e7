//! Images, sound, frames and what is embedded.

use std::sync::LazyLock;

use brunt_quickjs::Members;

use super::super::parts::{
    flag, form_of, inside, link, number, related, text, word, word_or_undefined,
};
use super::{CROSS_ORIGIN, REFERRER};

/// The methods of these kinds of elements.
pub(super) fn members(tag: &str) -> Option<&'static Members> {
    macro_rules! kind {
        ($members:expr) => {{
            static MEMBERS: LazyLock<Members> = LazyLock::new(|| $members);
            Some(&*MEMBERS)
        }};
    }
    match tag {
        "audio" | "video" => kind!(media()),
        "embed" => kind!(
            Members::new()
                .function(c"height", 0, |call| text(call, "height"))
                .function(c"src", 0, |call| text(call, "src"))
                .function(c"type", 0, |call| text(call, "type"))
                .function(c"width", 0, |call| text(call, "width"))
        ),
        "iframe" => kind!(
            Members::new()
                .function(c"allowfullscreen", 0, |call| flag(call, "allowfullscreen"))
                .function(c"height", 0, |call| text(call, "height"))
                .function(c"name", 0, |call| text(call, "name"))
                .function(c"referrerPolicy", 0, |call| {
                    word(call, "referrerpolicy", &REFERRER, "")
                })
                .function(c"src", 0, |call| link(call, "src"))
                .function(c"width", 0, |call| text(call, "width"))
        ),
        "img" => kind!(image()),
        "object" => kind!(object()),
        "source" => kind!(
            Members::new()
                .function(c"keySystem", 0, |call| text(call, "keysystem"))
                .function(c"media", 0, |call| text(call, "media"))
                .function(c"sizes", 0, |call| text(call, "sizes"))
                .function(c"src", 0, |call| link(call, "src"))
                .function(c"srcset", 0, |call| text(call, "srcset"))
                .function(c"type", 0, |call| text(call, "type"))
        ),
        "track" => kind!(track()),
        _ => None,
    }
}

fn media() -> Members {
    Members::new()
        .function(c"autoplay", 0, |call| flag(call, "autoplay"))
        .function(c"controls", 0, |call| flag(call, "controls"))
        .function(c"crossOrigin", 0, |call| word_or_undefined(call, "crossorigin", &CROSS_ORIGIN))
        .function(c"currentSrc", 0, |call| link(call, "src"))
        .function(c"defaultMuted", 0, |call| flag(call, "muted"))
        .function(c"loop", 0, |call| flag(call, "loop"))
        .function(c"mediaGroup", 0, |call| text(call, "mediagroup"))
        .function(c"muted", 0, |call| flag(call, "muted"))
        .function(c"preload", 0, |call| {
            word(call, "preload", &["auto", "metadata", "none"], "auto")
        })
        .function(c"src", 0, |call| link(call, "src"))
        .function(c"textTracks", 0, |call| inside(call, &["track"]))
}

fn image() -> Members {
    Members::new()
        .function(c"alt", 0, |call| text(call, "alt"))
        .function(c"crossOrigin", 0, |call| word_or_undefined(call, "crossorigin", &CROSS_ORIGIN))
        .function(c"currentSrc", 0, |call| link(call, "src"))
        .function(c"height", 0, |call| number(call, "height", 0))
        .function(c"isMap", 0, |call| flag(call, "ismap"))
        .function(c"name", 0, |call| text(call, "name"))
        .function(c"referrerPolicy", 0, |call| word(call, "referrerpolicy", &REFERRER, ""))
        .function(c"sizes", 0, |call| text(call, "sizes"))
        .function(c"src", 0, |call| link(call, "src"))
        .function(c"srcset", 0, |call| text(call, "srcset"))
        .function(c"useMap", 0, |call| text(call, "usemap"))
        .function(c"width", 0, |call| number(call, "width", 0))
}

fn object() -> Members {
    Members::new()
        .function(c"data", 0, |call| link(call, "data"))
        .function(c"form", 0, |call| related(call, form_of))
        .function(c"height", 0, |call| text(call, "height"))
        .function(c"name", 0, |call| text(call, "name"))
        .function(c"tabIndex", 0, |call| number(call, "tabindex", 0))
        .function(c"type", 0, |call| text(call, "type"))
        .function(c"typeMustMatch", 0, |call| flag(call, "typemustmatch"))
        .function(c"useMap", 0, |call| text(call, "usemap"))
        .function(c"width", 0, |call| text(call, "width"))
}

fn track() -> Members {
    // `subtitle` without its `s`, as k6 has it.
    const KINDS: [&str; 5] = ["subtitle", "captions", "descriptions", "chapters", "metadata"];
    Members::new()
        .function(c"default", 0, |call| flag(call, "default"))
        .function(c"kind", 0, |call| word(call, "kind", &KINDS, "subtitle"))
        .function(c"label", 0, |call| text(call, "label"))
        .function(c"src", 0, |call| link(call, "src"))
        .function(c"srclang", 0, |call| text(call, "srclang"))
}
