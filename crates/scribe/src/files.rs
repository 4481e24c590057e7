//! Files beside the script: bodies, uploads, data, secrets.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::Content;
use crate::text::{Names, quoted};

/// A placeholder is not longer.
const PLACEHOLDER_MAX: u64 = 16 << 20;

/// Files that the script opens.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// With their paths below the script's folder.
    pub(crate) all: Vec<(PathBuf, Content)>,
    by_content: BTreeMap<Vec<u8>, String>,
    paths: std::collections::BTreeSet<String>,
    names: Names,
    declarations: Vec<String>,
}

impl Files {
    /// Keeps a content and gives the variable that holds it. One content is one file. `is_text` opens it as text.
    pub(crate) fn keep(&mut self, wanted: &str, content: Content, is_text: bool) -> String {
        let mut id = match &content {
            Content::Bytes(bytes) | Content::Secret(bytes) => Sha256::digest(bytes).to_vec(),
            Content::Copy(path) => path.as_os_str().as_encoded_bytes().to_vec(),
        };
        id.push(u8::from(is_text));
        if let Some(name) = self.by_content.get(&id) {
            return name.clone();
        }
        let path = self.free_path(wanted);
        let file_name = path.trim_start_matches("bodies/");
        let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
        let name = self.names.take(&format!("{stem} file"), "file");
        let mode = if is_text { "" } else { ", 'b'" };
        self.declarations
            .push(format!("const {name} = open({}{mode});", quoted(&format!("./{path}"))));
        self.all.push((PathBuf::from(path), content));
        self.by_content.insert(id, name.clone());
        name
    }

    /// Bytes in place of a content that is not recorded.
    pub(crate) fn placeholder(&mut self, wanted: &str, size: Option<u64>) -> String {
        let size = size.unwrap_or(0).min(PLACEHOLDER_MAX);
        let size = usize::try_from(size).unwrap_or(0);
        self.keep(
            wanted,
            Content::Bytes(b"placeholder\n".iter().copied().cycle().take(size).collect()),
            false,
        )
    }

    /// The lines that open the files.
    pub(crate) fn declarations(&self) -> &[String] {
        &self.declarations
    }

    /// `bodies/` and the name, without what is not a plain file name on some system; with a number if there is such a file.
    fn free_path(&mut self, wanted: &str) -> String {
        let plain = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
        let plain: String = plain
            .chars()
            .map(|char| if char.is_control() || "<>:\"|?*".contains(char) { '_' } else { char })
            .collect();
        let plain = plain.trim_matches(['.', ' ']);
        let plain: String =
            if plain.is_empty() { "file".to_owned() } else { plain.chars().take(80).collect() };
        let (stem, end) = match plain.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() => (stem.to_owned(), format!(".{end}")),
            _ => (plain, String::new()),
        };
        let numbered = (2_u32..).map(|number| format!("bodies/{stem}-{number}{end}"));
        let mut all = std::iter::once(format!("bodies/{stem}{end}")).chain(numbered);
        let path = all.find(|path| !self.paths.contains(&path.to_lowercase()));
        let path = path.expect("numbers do not end");
        self.paths.insert(path.to_lowercase());
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_content_is_one_file_and_names_are_safe() {
        let mut files = Files::default();
        let bytes = |text: &str| Content::Bytes(text.as_bytes().to_vec());
        assert_eq!(files.keep("a b.png", bytes("1"), false), "aBFile");
        assert_eq!(files.keep("other.png", bytes("1"), false), "aBFile");
        assert_eq!(files.keep("../../etc/A B.png", bytes("2"), false), "aB2File");
        assert_eq!(files.keep("C:\\x\\..", bytes("3"), false), "fileFile");
        let paths: Vec<_> = files.all.iter().map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(paths, ["bodies/a b.png", "bodies/A B-2.png", "bodies/file"]);
    }
}
