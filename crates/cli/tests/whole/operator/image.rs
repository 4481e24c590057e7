//! The image that `deploy/image/build` makes: the same bytes each time, read by another program, unpacked as engines do.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::repository;

/// The root file system of the image, unpacked; it goes away with this.
pub(super) struct Image {
    folder: tempfile::TempDir,
}

/// Runs a program to its end; its standard output.
fn output(command: &mut Command) -> String {
    let told = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{command:?}: {stderr}");
    String::from_utf8_lossy(&told.stdout).into_owned()
}

fn build(out: &Path) -> String {
    let mut command = Command::new(repository("deploy/image/build"));
    command.args(["--uncompressed", "--name", "brunt:replay", "--binary"]);
    output(command.arg(env!("CARGO_BIN_EXE_brunt")).arg("--out").arg(out))
}

impl Image {
    /// Builds it and unpacks its layer.
    pub(super) fn unpacked() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let image = Self { folder };
        let archive = image.path("image.tar");
        build(&archive);
        let layer = read(&archive, "manifest.json")[0]["Layers"][0].as_str().map(str::to_owned);
        let root = image.root();
        std::fs::create_dir(&root).expect("a folder");
        let unpack = format!(
            "tar -xOf '{}' '{}' | tar -xp -C '{}'",
            archive.display(),
            layer.expect("a layer"),
            root.display()
        );
        output(Command::new("sh").args(["-c", &unpack]));
        std::fs::remove_file(archive).expect("it was there");
        // The places where volumes are mounted are made by engines.
        for place in ["test", "srv"] {
            std::fs::create_dir(root.join(place)).expect("a folder");
        }
        image
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.path("root")
    }
}

/// A JSON file of the image.
fn read(archive: &Path, name: &str) -> Value {
    let text = output(Command::new("tar").arg("-xOf").arg(archive).arg(name));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
}

/// The bytes of a blob, whose digest is checked.
fn blob(archive: &Path, descriptor: &Value) -> Vec<u8> {
    let digest = descriptor["digest"].as_str().expect("a digest");
    let hex = digest.strip_prefix("sha256:").expect("a digest of SHA-256");
    let mut tar = Command::new("tar");
    let told = tar.arg("-xOf").arg(archive).arg(format!("blobs/sha256/{hex}")).output();
    let bytes = told.expect("tar runs").stdout;
    assert_eq!(descriptor["size"].as_u64(), Some(bytes.len() as u64), "{descriptor}");
    assert_eq!(format!("{:x}", Sha256::digest(&bytes)), hex, "{descriptor}");
    bytes
}

#[test]
fn the_image_is_an_oci_layout_that_others_read_and_is_always_the_same() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let archive = folder.path().join("image.tar");
    let told = build(&archive);
    let digest_of = |file: &Path| Sha256::digest(std::fs::read(file).expect("an image"));
    let first = digest_of(&archive);
    assert_eq!((build(&archive), digest_of(&archive)), (told.clone(), first));

    assert_eq!(read(&archive, "oci-layout")["imageLayoutVersion"], "1.0.0");
    let index = read(&archive, "index.json");
    let entry = &index["manifests"][0];
    assert!(told.contains(entry["digest"].as_str().expect("a digest")), "{told}");
    assert_eq!(entry["annotations"]["io.containerd.image.name"], "docker.io/library/brunt:replay");
    let manifest: Value = serde_json::from_slice(&blob(&archive, entry)).expect("JSON");
    let config: Value = serde_json::from_slice(&blob(&archive, &manifest["config"])).expect("JSON");
    let layer = blob(&archive, &manifest["layers"][0]);
    // Not compressed: both digests are the same.
    assert_eq!(config["rootfs"]["diff_ids"][0], manifest["layers"][0]["digest"]);
    assert_eq!(config["config"]["User"], "12345");
    assert_eq!(config["config"]["Entrypoint"], serde_json::json!(["k6"]));
    assert_eq!(config["config"]["WorkingDir"], "/home/k6");
    let mut layer = tar::Archive::new(&layer[..]);
    let mut owners = Vec::new();
    for entry in layer.entries().expect("a tar file") {
        let entry = entry.expect("an entry");
        let header = entry.header();
        assert_eq!(header.mtime().expect("a number"), 0);
        let path = entry.path().expect("a path").into_owned();
        if header.uid().expect("a number") != 0 {
            owners.push(path.clone());
        }
        if path == Path::new("./tmp") {
            assert_eq!(header.mode().expect("a number") & 0o7777, 0o1777);
        }
        if path == Path::new("./usr/bin/k6") {
            let target = entry.link_name().expect("a name").expect("a link");
            assert_eq!(&*target, Path::new("brunt"));
        }
    }
    assert_eq!(owners, [Path::new("./home/k6/")]);

    // An independent reader copies it, in both of its forms.
    let told = folder.path().join("copy");
    for form in ["oci-archive", "docker-archive"] {
        let inspected = output(
            Command::new("skopeo").arg("inspect").arg(format!("{form}:{}", archive.display())),
        );
        let inspected: Value = serde_json::from_str(&inspected).expect("JSON");
        assert_eq!(inspected["Os"], "linux", "{form}");
        let copy = format!("dir:{}-{form}", told.display());
        output(
            Command::new("skopeo")
                .args(["--insecure-policy", "copy"])
                .arg(format!("{form}:{}", archive.display()))
                .arg(copy),
        );
    }
}

#[test]
fn what_the_image_lacks_is_named() {
    let told = |arguments: &[&str]| {
        let mut command = Command::new(repository("deploy/image/build"));
        let told = command.args(arguments).output().expect("bash runs");
        assert_eq!(told.status.code(), Some(1), "{arguments:?}");
        String::from_utf8_lossy(&told.stderr).into_owned()
    };
    assert!(told(&["--binary", "/not/there"]).contains("there is no program /not/there"));
    assert!(told(&["--out"]).contains("--out needs a value"));
    assert!(told(&["--nonsense"]).contains("unknown argument \"--nonsense\""));
    let name = ["--binary", env!("CARGO_BIN_EXE_brunt"), "--name", "brunt"];
    assert!(told(&name).contains("has no tag"));
}
