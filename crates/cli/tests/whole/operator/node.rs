//! A node of a cluster, made of namespaces: pods with addresses and a read-only root file system of their own.
//!
//! ```text
//! node: a network with a bridge, 10.244.0.1 and fd00:244::1     the demo target, the kubelet's probes, the starter
//! pod:  a network with 10.244.0.N and fd00:244::N               the image, read-only, as user 12345
//! ```

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::Running;

/// The remedy where the kernel or the container allows none of this.
const REMEDY: &str = "the replay of the k6-operator needs network and mount namespaces: run the tests as root, in a container \
    with CAP_SYS_ADMIN and CAP_NET_ADMIN, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, \
    kernel.apparmor_restrict_unprivileged_userns=0)";

/// Whether the tests run as root. Others get their namespaces inside a user namespace, and can't become user 12345.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// A process that keeps namespaces alive: until its standard input ends, as it does when the test ends, however that ends.
struct Holder(Child);

impl Holder {
    fn start(mut command: Command) -> Self {
        command.args(["sh", "-c", "echo ready && exec cat"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{error}: {REMEDY}"));
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("stdout is text");
        if line != "ready\n" {
            let mut told = String::new();
            let mut stderr = child.stderr.take().expect("stderr is a pipe");
            let _ = stderr.read_to_string(&mut told);
            panic!("{}: {REMEDY}", told.trim());
        }
        Self(child)
    }

    /// A command inside of its network.
    fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.0.id().to_string()]);
        if !is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--");
        command
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a shell's lines to their end.
fn sh(mut command: Command, lines: &str) -> String {
    let told = command.args(["sh", "-euc", lines]).stdin(Stdio::null()).output().expect("sh runs");
    let stderr = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{lines}\n{stderr}\n{REMEDY}");
    String::from_utf8_lossy(&told.stdout).into_owned()
}

/// A node with its network.
pub(crate) struct Node {
    holder: Holder,
    /// The last number of the newest address; names of links are not used again while an old one may be on its way out.
    last: AtomicU32,
}

impl Node {
    pub(crate) fn start() -> Self {
        let mut command = Command::new("unshare");
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "--"]);
        let node = Self { holder: Holder::start(command), last: AtomicU32::new(1) };
        sh(
            node.holder.enter(),
            "ip link set lo up\n\
             ip link add br0 type bridge\n\
             ip link set br0 up\n\
             ip addr add 10.244.0.1/16 dev br0\n\
             ip addr add fd00:244::1/64 dev br0 nodad\n",
        );
        node
    }

    /// A command in the network of the node, with the file systems of this machine.
    pub(crate) fn command(&self) -> Command {
        self.holder.enter()
    }

    /// Runs a shell's lines there; their output.
    pub(crate) fn sh(&self, lines: &str) -> String {
        sh(self.command(), lines)
    }

    /// A pod: its network, with addresses of both families or of IPv6 alone.
    pub(crate) fn pod(&self, only_ipv6: bool) -> Pod {
        let mut command = self.holder.enter();
        command.args(["unshare", "--net", "--"]);
        let holder = Holder::start(command);
        let id = holder.0.id();
        let own = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(own < 255, "a node has no more addresses");
        self.sh(&format!(
            "ip link add pod{own} type veth peer name eth0 netns {id}\n\
             ip link set pod{own} master br0 up\n"
        ));
        let ipv4 = if only_ipv6 {
            String::new()
        } else {
            format!("ip addr add 10.244.0.{own}/16 dev eth0\n")
        };
        sh(
            holder.enter(),
            &format!(
                "ip link set lo up\nip link set eth0 up\n{ipv4}\
                 ip addr add fd00:244::{own:x}/64 dev eth0 nodad\n"
            ),
        );
        let ip = if only_ipv6 { format!("[fd00:244::{own:x}]") } else { format!("10.244.0.{own}") };
        Pod { holder, ip }
    }
}

/// A pod that may run containers.
pub(crate) struct Pod {
    holder: Holder,
    /// Its address, as URLs have it.
    pub(crate) ip: String,
}

/// The shell that becomes a container: the root file system, then a folder of this machine and its place there, then the words
/// to run behind `--`.
const CONTAINER: &str = r#"
root=$1 from=$2 to=$3
shift 4
mount --bind "$root" "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind "$from" "$root$to"
mount -o remount,bind,ro "$root$to"
mount -o remount,bind,ro "$root"
exec "$@"
"#;

impl Pod {
    /// The process that keeps it: its network can be named by it.
    pub(crate) fn process(&self) -> u32 {
        self.holder.0.id()
    }

    /// A command in its network, with the file systems of this machine: an ephemeral container.
    pub(crate) fn command(&self) -> Command {
        self.holder.enter()
    }

    /// Starts the words in the image, with these variables and no others, and with the folder `from` mounted at `to`, read-only.
    pub(crate) fn start(
        &self,
        image: &Path,
        (from, to): (&Path, &str),
        env: &[(String, String)],
        words: &[String],
    ) -> Running {
        let mut command = self.holder.enter();
        command.args(["unshare", "--mount", "--", "sh", "-euc", CONTAINER, "sh"]);
        command.args([image, from, Path::new(to)]).args(["--", "env", "-i"]);
        command.arg("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.args(env.iter().map(|(name, value)| format!("{name}={value}")));
        command.arg("/usr/sbin/chroot");
        if is_root() {
            command.args(["--userspec=12345:12345", "--groups="]);
        }
        // The working directory of the image.
        command.arg(image).args(["/bin/sh", "-c", "cd /home/k6 && exec \"$@\"", "sh"]);
        Running::start(command.args(words).stdin(Stdio::null()))
    }
}
