//! URLs and names, without the parts that differ from visit to visit.

use url::Url;

/// Whether a word looks made by a program: it has a digit, or is long and mixes its letters.
pub(crate) fn is_made(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
        || word.len() >= 20
            && word.bytes().any(|byte| byte.is_ascii_uppercase())
            && word.bytes().any(|byte| byte.is_ascii_lowercase())
            && !word.contains([' ', '-', '_'])
}

/// A name with `#` for each word that looks made: `form:orders:7:link` is `form:orders:#:link`.
pub(crate) fn plain(name: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for letter in name.chars().chain(std::iter::once('\0')) {
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
            continue;
        }
        out.push_str(if is_made(&word) { "#" } else { &word });
        word.clear();
        if letter != '\0' {
            out.push(letter);
        }
    }
    out
}

/// The path for a message: short, without words that may be tokens.
pub fn shown(url: &Url) -> String {
    let mut out = String::new();
    for segment in url.path().split('/').skip(1) {
        let segment = segment.split(';').next().unwrap_or_default();
        let is_long = segment.len() > 24 && is_made(segment);
        out.push('/');
        out.push_str(if is_long { "…" } else { segment });
    }
    if out.len() > 80 {
        let cut = (0..=77).rev().find(|at| out.is_char_boundary(*at)).unwrap_or(0);
        out.truncate(cut);
        out.push('…');
    }
    out
}

/// Whether two URLs name the same kind of page: the same server, and the same path but for words that look made or that
/// `is_known` (values of the session).
pub(crate) fn is_same_page(one: &Url, other: &Url, is_known: &dyn Fn(&str) -> bool) -> bool {
    if one.host_str() != other.host_str()
        || one.port_or_known_default() != other.port_or_known_default()
    {
        return false;
    }
    let raw = |url: &Url| -> Vec<String> {
        let segments = url.path().split('/').skip(1);
        segments.map(|one| one.split(';').next().unwrap_or_default().to_owned()).collect()
    };
    let (raw, others) = (raw(one), raw(other));
    raw.len() == others.len()
        && raw.iter().zip(&others).all(|(one, other)| {
            one == other
                || plain(one) == plain(other)
                || is_known(one)
                || is_made(one) && is_made(other)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(one: &str, other: &str) -> bool {
        let url = |text: &str| Url::parse(&format!("http://a{text}")).unwrap();
        is_same_page(&url(one), &url(other), &|word| word == "anvil")
    }

    #[test]
    fn ids_do_not_make_another_page_and_words_do() {
        assert!(is_same("/orders/17", "/orders/4711"));
        assert!(is_same("/o;jsessionid=A1", "/o"));
        assert!(is_same("/items/anvil", "/items/hammer"));
        assert!(is_same(
            "/d/6f1c2d1e-0000-4000-8000-000000000001/x",
            "/d/0a1c2d1e-1111-4000-8000-0000000000ff/x"
        ));
        assert!(!is_same("/orders", "/login"));
        assert!(!is_same("/orders", "/orders/7"));
        assert!(!is_same("/items/hammer", "/items/anvil"));
    }

    #[test]
    fn names_lose_their_numbers() {
        assert_eq!(plain("form:orders:7:link"), "form:orders:#:link");
        assert_eq!(plain("j_idt12"), "j_#");
        assert_eq!(plain("javax.faces.ViewState"), "javax.faces.viewstate");
    }
}
