//! `application/x-www-form-urlencoded`, as browsers read and write it (WHATWG URL, §5).

use url::form_urlencoded;

/// Names and values in order, decoded: `a=1&b=x+y` has two pairs. A name without `=` has an empty value.
pub fn pairs(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

/// The text of pairs: blanks become `+`, all but letters, digits and `*-._` become `%XX` of UTF-8.
pub fn encode<N: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A name or a value, decoded: `+` becomes a blank, `%XX` a byte of UTF-8.
pub fn decode(text: &str) -> String {
    let mut pairs = form_urlencoded::parse(text.as_bytes());
    if text.contains(['&', '=']) {
        // Not one that a form has; each sign is then itself.
        let escaped = text.replace('&', "%26").replace('=', "%3D");
        return form_urlencoded::parse(escaped.as_bytes())
            .next()
            .map_or_else(String::new, |(name, _)| name.into_owned());
    }
    pairs.next().map_or_else(String::new, |(name, _)| name.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_keep_their_order_and_their_doubles() {
        let read = pairs(b"a=1&b=x+y%26&a=&c&=d&j_id1%3Ajavax.faces.ViewState=-1%2B%3D");
        let expected = [
            ("a", "1"),
            ("b", "x y&"),
            ("a", ""),
            ("c", ""),
            ("", "d"),
            ("j_id1:javax.faces.ViewState", "-1+="),
        ];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(encode([("a b", "ü*-._~")]), "a+b=%C3%BC*-._%7E");
        assert_eq!(decode("a+b%3d=&c"), "a b==&c");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(all in proptest::collection::vec((".{1,9}", ".{0,9}"), 0..6)) {
            prop_assert_eq!(pairs(encode(all_pairs(&all)).as_bytes()), all);
        }
    }

    fn all_pairs(all: &[(String, String)]) -> Vec<(&str, &str)> {
        all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}
