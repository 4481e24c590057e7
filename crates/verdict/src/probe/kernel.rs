//! The kernel's files under `/proc`.

/// The number behind a word.
pub(super) fn named(text: &str, key: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    words.find(|word| *word == key)?;
    words.next()?.parse().ok()
}

/// `TCP: inuse 5 orphan 0 tw 3`: the number behind a word in the line of a protocol.
pub fn sockets(text: &str, protocol: &str, key: &str) -> Option<u64> {
    named(text.lines().find_map(|line| line.strip_prefix(protocol))?, key)
}

/// `VmRSS:   123 kB`, in bytes.
pub fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// `Max open files   1024   4096   files`: the limit that holds now.
pub(super) fn open_files(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// `32768 60999`: how many ports there are.
pub(super) fn ports(text: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace().map_while(|word| word.parse::<u64>().ok());
    let (first, last) = (words.next()?, words.next()?);
    Some(last.checked_sub(first)? + 1)
}

/// The first line of `/proc/stat`: user nice system idle iowait irq softirq steal.
pub(super) fn stolen(text: &str) -> Option<(u64, u64)> {
    let numbers = text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let numbers: Vec<u64> = numbers.take(8).map_while(|word| word.parse().ok()).collect();
    Some((*numbers.get(7)?, numbers.iter().sum()))
}

/// `Tcp:` with names, then with numbers: segments that were sent, and sent again.
pub(super) fn segments(text: &str) -> Option<(u64, u64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let find = |key: &str| {
        let place = names.split_ascii_whitespace().position(|name| name == key)?;
        numbers.split_ascii_whitespace().nth(place)?.parse().ok()
    };
    Some((find("OutSegs")?, find("RetransSegs")?))
}

/// The interfaces' counts of packets that were lost in them (columns 3, 4 of those received, 11, 12 of those sent), and of all (2, 10).
pub(super) fn packets(text: &str) -> Option<(u64, u64)> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let numbers = |(_, line): (&str, &str)| {
        let numbers: Vec<u64> =
            line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        let sum = |places: &[usize]| -> Option<u64> {
            places.iter().map(|place| numbers.get(*place).copied()).sum()
        };
        Some((sum(&[2, 3, 10, 11])?, sum(&[1, 9])?))
    };
    let all: Option<Vec<(u64, u64)>> = lines.map(numbers).collect();
    let all = all?;
    Some(all.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}
