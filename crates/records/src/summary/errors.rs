//! The texts of errors, each once, in the order of their first appearance.

use rustc_hash::FxHashMap;

/// Texts that are kept; with generated URLs in them there is no end to them.
const TEXTS_MAX: usize = 1000;
/// Bytes of a text that are kept.
const TEXT_SIZE_MAX: usize = 2048;

/// The distinct texts of errors: at most 1000, each cut at 2 KiB. Texts without room are counted.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    texts: Vec<(String, u64)>,
    index: FxHashMap<String, usize>,
    last: usize,
    not_kept: u64,
}

impl Errors {
    pub(super) fn add(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(TEXT_SIZE_MAX)];
        if let Some((last, count)) = self.texts.get_mut(self.last)
            && last == text
        {
            *count += 1;
            return;
        }
        if let Some(&index) = self.index.get(text) {
            self.last = index;
            self.texts[index].1 += 1;
        } else if self.texts.len() < TEXTS_MAX {
            self.last = self.texts.len();
            self.index.insert(text.to_owned(), self.last);
            self.texts.push((text.to_owned(), 1));
        } else {
            self.not_kept += 1;
        }
    }

    /// The texts, each with how often it came.
    pub fn texts(&self) -> &[(String, u64)] {
        &self.texts
    }

    /// How many errors had texts for which there was no room.
    pub fn not_kept(&self) -> u64 {
        self.not_kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_in_the_order_of_their_first_appearance() {
        let mut errors = Errors::default();
        for text in ["b", "a", "b", "b", "c", "a"] {
            errors.add(text);
        }
        let expected = [("b".to_owned(), 3), ("a".to_owned(), 2), ("c".to_owned(), 1)];
        assert_eq!(errors.texts(), expected);
    }

    #[test]
    fn there_is_an_end_to_them() {
        let mut errors = Errors::default();
        for n in 0..5000 {
            errors.add(&format!("Get \"/{n}\": refused {}", "é".repeat(2000)));
        }
        assert_eq!((errors.texts().len(), errors.not_kept()), (TEXTS_MAX, 4000));
        assert!(errors.texts()[0].0.len() <= TEXT_SIZE_MAX);
    }
}
