//! A `TestRun`, and the commands that an operator makes of it: formats that the k6-operator (after v1.6.0) has, in words of ours.

/// Where the script is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `script.configMap`, `script.volumeClaim`: a file at `/test`.
    Volume(&'static str),
    /// `script.localFile`: a file in the image.
    Local(&'static str),
}

/// The part of a specification that the replay uses.
pub(super) struct TestRun {
    pub(super) name: &'static str,
    /// `parallelism`
    pub(super) parallelism: u32,
    pub(super) script: Place,
    /// `args`: words that reach the program as they are; else `arguments`, one line that blanks divide.
    pub(super) is_args: bool,
    pub(super) flags: &'static [&'static str],
    /// `runner.env`
    pub(super) env: Vec<(String, String)>,
    /// A run of a cloud's load zone: setup, teardown and end are called from outside.
    pub(super) is_zone: bool,
}

/// The archive that the initializer makes.
const ARCHIVE: &str = "/tmp/test.js.archived.tar";

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

impl TestRun {
    pub(super) fn path(&self) -> String {
        match self.script {
            Place::Volume(file) => format!("/test/{file}"),
            Place::Local(path) => path.to_owned(),
        }
    }

    /// Flags that reach `archive`: those about the log's and the results' way, and some that its author left out, do not.
    fn flags_of_archive(&self) -> Vec<String> {
        let mut kept = Vec::new();
        let mut flags = self.flags.iter();
        while let Some(&flag) = flags.next() {
            match flag {
                "-o" | "--out" => drop(flags.next()),
                "-l" | "--linger" | "--no-usage-report" | "-v" | "--verbose" => {}
                _ => kept.push(flag.to_owned()),
            }
        }
        kept
    }

    /// The words of the container of the initializer.
    pub(super) fn initializer(&self) -> Vec<String> {
        let inspect = "k6 inspect --execution-requirements";
        if self.is_args {
            let lines = format!(
                "command -v k6 >/dev/null || exit 127\n\
                 archive=$1\nshift\nmkdir -p \"$(dirname \"$archive\")\"\n\
                 \"$@\" 2>/tmp/k6logs || {{ cat /tmp/k6logs; exit 1; }}\n\
                 {inspect} \"$archive\" 2>/tmp/k6logs || {{ cat /tmp/k6logs; exit 1; }}\n\
                 if grep -q 'level.*error' /tmp/k6logs; then exit 1; fi\n"
            );
            let mut command = words(&["sh", "-c", &lines, "sh", ARCHIVE, "k6", "archive"]);
            command.push(self.path());
            for (name, value) in &self.env {
                command.extend(["-e".to_owned(), format!("{name}={value}")]);
            }
            command.extend(words(&["-O", ARCHIVE]));
            command.extend(self.flags_of_archive());
            return command;
        }
        let env: Vec<String> =
            self.env.iter().map(|(name, _)| format!("-e {name}=\"${{{name}}}\"")).collect();
        let line = format!(
            "mkdir -p $(dirname {ARCHIVE}) && k6 archive {} {} -O {ARCHIVE} {} 2> /tmp/k6logs && \
             {inspect} {ARCHIVE} 2> /tmp/k6logs ; ! cat /tmp/k6logs | grep 'level.*error'",
            self.path(),
            env.join(" "),
            self.flags_of_archive().join(" ")
        );
        words(&["sh", "-c", &line])
    }

    /// The words of the container of runner `index`, which counts from 1.
    pub(super) fn runner(&self, index: u32) -> Vec<String> {
        let count = self.parallelism;
        let mut command = words(&["k6", "run", "--quiet"]);
        if count > 1 {
            let ends = (0..=count).map(|end| match end {
                0 => "0".to_owned(),
                end if end == count => "1".to_owned(),
                end => format!("{end}/{count}"),
            });
            let ends: Vec<String> = ends.collect();
            let (from, to) = (&ends[index as usize - 1], &ends[index as usize]);
            command.push(format!("--execution-segment={from}:{to}"));
            command.push(format!("--execution-segment-sequence={}", ends.join(",")));
        }
        command.extend(words(self.flags));
        command.push(self.path());
        command.extend(words(&["--address=0.0.0.0:6565", "--paused", "--tag"]));
        command.push(format!("instance_id={index}"));
        command.push("--tag".to_owned());
        command.push(format!("testrun_name={}", self.name));
        if self.is_zone {
            command.extend(words(&["--no-setup", "--no-teardown", "--linger", "-e"]));
            command.push(format!("K6_CLOUDRUN_INSTANCE_ID={index}"));
        }
        match self.script {
            Place::Volume(_) => command,
            Place::Local(path) => {
                let lines = "test -f \"$1\" || { echo \"no script $1 in the image\"; exit 1; }\n\
                    shift\nexec \"$@\"\n";
                let mut wrapped = words(&["sh", "-c", lines, "sh", path]);
                wrapped.extend(command);
                wrapped
            }
        }
    }

    /// The variables of a container: those of the TestRun, and those that a cluster adds for each Service.
    pub(super) fn variables(&self, index: u32) -> Vec<(String, String)> {
        let mut all = self.env.clone();
        let mut add = |name: String, value: String| all.push((name, value));
        add("HOSTNAME".to_owned(), format!("{}-{index}", self.name));
        add("KUBERNETES_SERVICE_HOST".to_owned(), "10.96.0.1".to_owned());
        let service = self.name.to_uppercase().replace('-', "_");
        for other in 1..=index {
            let address = format!("tcp://10.96.1.{other}:6565");
            add(format!("{service}_SERVICE_{other}_SERVICE_PORT"), "6565".to_owned());
            add(format!("{service}_SERVICE_{other}_PORT"), address);
        }
        all
    }
}
