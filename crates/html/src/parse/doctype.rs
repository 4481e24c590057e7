//! `<!DOCTYPE …>`.

use super::modes::SPACE;
use crate::document::Doctype;

/// Takes a doctype apart; whether it is one of those that ask for old browsers' ways.
pub(super) fn read(text: &str) -> (Doctype, bool) {
    let (name, rest) = text.split_at(text.find(SPACE).unwrap_or(text.len()));
    let mut is_quirky = name != "html";
    let mut doctype = Doctype { name: name.to_lowercase(), ..Doctype::default() };
    let mut rest = rest.trim_start_matches(SPACE);
    let Some((word, after)) = rest.split_at_checked(6) else {
        return (doctype, is_quirky || !rest.is_empty());
    };
    rest = after;
    let mut key = word.to_lowercase();
    let mut ids: Vec<(String, &str)> = Vec::new();
    while key == "public" || key == "system" {
        rest = rest.trim_start_matches(SPACE);
        let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            break;
        };
        let (id, after) = rest[1..].split_once(quote).unwrap_or((&rest[1..], ""));
        rest = after;
        let next = if key == "public" { "system" } else { "" };
        ids.push((std::mem::replace(&mut key, next.to_owned()), id));
    }
    if !key.is_empty() || !rest.is_empty() {
        is_quirky = true;
    } else if let (Some((first, public)), Some((last, system))) = (ids.first(), ids.last()) {
        is_quirky |= first == "public" && is_quirky_id(&public.to_lowercase(), ids.len() == 1);
        is_quirky |= last == "system"
            && system
                .eq_ignore_ascii_case("http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd");
    }
    for (key, id) in ids {
        let place = if key == "public" { &mut doctype.public } else { &mut doctype.system };
        id.clone_into(place);
    }
    (doctype, is_quirky)
}

/// Whether a public identifier is one of the HTML standard's list; `is_alone` if no system identifier follows.
fn is_quirky_id(public: &str, is_alone: bool) -> bool {
    const WHOLE: [&str; 3] =
        ["-//w3o//dtd w3 html strict 3.0//en//", "-/w3d/dtd html 4.0 transitional/en", "html"];
    const ALONE: [&str; 2] =
        ["-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//"];
    let begins = |starts: &[&str]| starts.iter().any(|start| public.starts_with(start));
    WHOLE.contains(&public)
        || QUIRKY.iter().any(|(owner, titles)| {
            let rest = public.strip_prefix(owner);
            rest.is_some_and(|rest| titles.iter().any(|title| rest.starts_with(title)))
        })
        || (is_alone && begins(&ALONE))
}

/// How public identifiers of old documents begin: their owners, and what these called them.
const QUIRKY: [(&str, &[&str]); 18] = [
    ("+//silmaril//", &["dtd html pro v0r11 19970101//"]),
    ("-//advasoft ltd//", &["dtd html 3.0 aswedit + extensions//"]),
    ("-//as//", &["dtd html 3.0 aswedit + extensions//"]),
    (
        "-//ietf//dtd html",
        &[
            " 2.0 level 1//",
            " 2.0 level 2//",
            " 2.0 strict level 1//",
            " 2.0 strict level 2//",
            " 2.0 strict//",
            " 2.0//",
            " 2.1e//",
            " 3.0//",
            " 3.2 final//",
            " 3.2//",
            " 3//",
            " level 0//",
            " level 1//",
            " level 2//",
            " level 3//",
            " strict level 0//",
            " strict level 1//",
            " strict level 2//",
            " strict level 3//",
            " strict//",
            "//",
        ],
    ),
    ("-//metrius//", &["dtd metrius presentational//"]),
    (
        "-//microsoft//dtd internet explorer ",
        &[
            "2.0 html strict//",
            "2.0 html//",
            "2.0 tables//",
            "3.0 html strict//",
            "3.0 html//",
            "3.0 tables//",
        ],
    ),
    ("-//netscape comm. corp.//", &["dtd html//", "dtd strict html//"]),
    (
        "-//o'reilly and associates//dtd html ",
        &["2.0//", "extended 1.0//", "extended relaxed 1.0//"],
    ),
    ("-//softquad software//", &["dtd hotmetal pro 6.0::19990601::extensions to html 4.0//"]),
    ("-//softquad//", &["dtd hotmetal pro 4.0::19971010::extensions to html 4.0//"]),
    ("-//spyglass//", &["dtd html 2.0 extended//"]),
    ("-//sq//", &["dtd html 2.0 hotmetal + extensions//"]),
    ("-//sun microsystems corp.//", &["dtd hotjava html//", "dtd hotjava strict html//"]),
    (
        "-//w3c//dtd html ",
        &[
            "3 1995-03-24//",
            "3.2 draft//",
            "3.2 final//",
            "3.2//",
            "3.2s draft//",
            "4.0 frameset//",
            "4.0 transitional//",
            "experimental 19960712//",
            "experimental 970421//",
        ],
    ),
    ("-//w3c//", &["dtd w3 html//"]),
    ("-//w3o//", &["dtd w3 html 3.0//"]),
    ("-//webtechs//", &["dtd mozilla html 2.0//"]),
    ("-//webtechs//", &["dtd mozilla html//"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctypes_have_a_name_and_two_identifiers() {
        let cases = [
            ("html", "html||", false),
            ("HTML", "html||", true),
            (
                "html PUBLIC \"-//W3C//DTD HTML 4.01//EN\" 'x>y'",
                "html|-//W3C//DTD HTML 4.01//EN|x>y",
                false,
            ),
            (
                "html PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\"",
                "html|-//W3C//DTD HTML 4.01 Transitional//EN|",
                true,
            ),
            ("html PUBLIC \"-//IETF//DTD HTML//EN\" \"\"", "html|-//IETF//DTD HTML//EN|", true),
            ("html SYSTEM \"about:legacy-compat\"", "html||about:legacy-compat", false),
            ("html x", "html||", true),
            ("html é€é€", "html||", true),
        ];
        for (text, expected, quirky) in cases {
            let (Doctype { name, public, system }, is_quirky) = read(text);
            assert_eq!(format!("{name}|{public}|{system}"), expected);
            assert_eq!(is_quirky, quirky, "{text}");
        }
    }
}
