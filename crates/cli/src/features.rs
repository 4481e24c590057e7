//! k6's feature flags: new behaviour that a test asks for by name.

use crate::{environment::Environment, flags::Given};

/// One flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    /// One sentence.
    pub(crate) about: &'static str,
}

/// All that there are.
pub(crate) const ALL: [Feature; 3] = [
    Feature {
        name: NATIVE_HISTOGRAMS,
        about: "The Prometheus output sends trends as native histograms",
    },
    Feature { name: MERGE_RUN_TAGS, about: "Run tags of all layers are merged name by name" },
    Feature { name: FREEZE_ENV, about: "__ENV is frozen: writing to it throws" },
];

pub(crate) const NATIVE_HISTOGRAMS: &str = "native-histograms";
pub(crate) const MERGE_RUN_TAGS: &str = "merge-run-tags";
pub(crate) const FREEZE_ENV: &str = "freeze-env";

/// The flags that are on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Features(Vec<&'static str>);

impl Features {
    /// The flag `--features` goes before `K6_FEATURES` (in the environment or given with `-e`), and that before the
    /// configuration file; they are not put together. Unknown names are told and left out.
    pub(crate) fn find(
        given: &Given,
        environment: &Environment,
        script_env: Option<&str>,
        config_file: Option<&[String]>,
    ) -> Self {
        let written = given.get("features").filter(|value| value.on_command_line);
        let texts: Vec<String> = if let Some(value) = written {
            value.texts.clone()
        } else if let Some(text) = script_env.filter(|text| !text.is_empty()) {
            vec![text.to_owned()]
        } else if let Some((_, text)) = environment.setting("FEATURES") {
            vec![text.to_owned()]
        } else {
            config_file.unwrap_or_default().to_vec()
        };
        let mut on = Vec::new();
        for name in texts.iter().flat_map(|text| text.split(',')).map(str::trim) {
            match ALL.iter().find(|feature| feature.name == name) {
                _ if name.is_empty() => {}
                Some(feature) if on.contains(&feature.name) => {}
                Some(feature) => on.push(feature.name),
                None => log::error!("unknown feature flag \"{name}\" is ignored"),
            }
        }
        if let Some((said_as, text)) =
            environment.setting("PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM")
            && crate::flags::given::parse_bool(text) == Some(true)
            && !on.contains(&NATIVE_HISTOGRAMS)
        {
            log::warn!("{said_as} is deprecated: use --features {NATIVE_HISTOGRAMS}");
            on.push(NATIVE_HISTOGRAMS);
        }
        Self(on)
    }

    /// The flags of these names, as a leader hands them on.
    pub(crate) fn of_names(names: &[String]) -> Self {
        let is_on = |feature: &&Feature| names.iter().any(|name| name == feature.name);
        Self(ALL.iter().filter(is_on).map(|feature| feature.name).collect())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|name| (*name).to_owned()).collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// The run tags that tell of them: name and value.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (String, &'static str)> {
        self.0.iter().map(|name| (format!("k6_feature_{}", name.replace('-', "_")), "true"))
    }

    /// Tells the user.
    pub(crate) fn tell(&self) {
        if !self.0.is_empty() {
            log::info!("active feature flags: {}", self.0.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pairs: &[(&str, &str)], script: Option<&str>, file: &[String]) -> Features {
        let environment = pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        Features::find(&Given::default(), &environment, script, Some(file))
    }

    #[test]
    fn one_surface_wins_and_the_unknown_is_left_out() {
        let file = ["freeze-env".to_owned()];
        assert!(find(&[], None, &file).has(FREEZE_ENV));
        let env = find(&[("K6_FEATURES", "merge-run-tags, nope,")], None, &file);
        assert_eq!(env, Features(vec![MERGE_RUN_TAGS]));
        let script = find(&[("K6_FEATURES", "merge-run-tags")], Some("native-histograms"), &file);
        assert_eq!(script, Features(vec![NATIVE_HISTOGRAMS]));
        assert_eq!(Features::of_names(&script.names()), script);
        let tags: Vec<_> = script.tags().collect();
        assert_eq!(tags, [("k6_feature_native_histograms".to_owned(), "true")]);
        let old = find(&[("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")], None, &[]);
        assert!(old.has(NATIVE_HISTOGRAMS));
    }
}
