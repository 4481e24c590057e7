//! The process environment, read once. Each `K6_NAME` may also be written `BRUNT_NAME`.

use std::collections::BTreeMap;

/// A copy of the environment variables. Values that are not UTF-8 are read with U+FFFD in the wrong
/// places, as scripts can only see text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn of_this_process() -> Self {
        std::env::vars_os()
            .map(|(name, value)| {
                (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
            })
            .collect()
    }

    /// A variable by its whole name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The setting `K6_<name>`: `BRUNT_<name>` if that is set, else `K6_<name>`. Returns the name it
    /// was found under and its value; an empty value counts as not set, as in k6.
    pub(crate) fn setting(&self, name: &str) -> Option<(String, &str)> {
        ["BRUNT_", "K6_"].into_iter().find_map(|prefix| {
            let whole = format!("{prefix}{name}");
            let value = self.get(&whole).filter(|value| !value.is_empty())?;
            Some((whole, value))
        })
    }

    /// All variables, by name.
    pub(crate) fn all(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// All variables, with `K6_X` set to the value of `BRUNT_X` where that is set: what the layers
    /// of options read.
    pub(crate) fn with_aliases(&self) -> BTreeMap<String, String> {
        let mut all = self.variables.clone();
        for (name, value) in &self.variables {
            if let Some(rest) = name.strip_prefix("BRUNT_")
                && !value.is_empty()
            {
                all.insert(format!("K6_{rest}"), value.clone());
            }
        }
        all
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        Self { variables: pairs.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    #[test]
    fn our_name_wins_over_k6s() {
        let both = environment(&[("K6_VUS", "1"), ("BRUNT_VUS", "2")]);
        assert_eq!(both.setting("VUS"), Some(("BRUNT_VUS".to_owned(), "2")));
        assert_eq!(both.with_aliases()["K6_VUS"], "2");
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let empty = environment(&[("BRUNT_VUS", ""), ("K6_VUS", "3")]);
        assert_eq!(empty.setting("VUS"), Some(("K6_VUS".to_owned(), "3")));
        assert_eq!(empty.with_aliases()["K6_VUS"], "3");
    }
}
