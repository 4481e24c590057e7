//! Threads that stand back: they share cores with those that make the load.

/// Lets other threads go before the calling one, as `nice` does. Its work is done all the same where a core has time;
/// elsewhere its queue fills, and samples without room are counted.
pub fn stand_back() {
    // A third of the weight of a thread that makes load: enough for the samples of a core that has no time at all.
    #[cfg(target_os = "linux")]
    {
        const NICER: i32 = 5;
        const NICEST: i32 = 19;
        // Of this thread alone, on Linux. That it is refused changes nothing.
        if let Ok(before) = rustix::process::getpriority_process(None) {
            let _ = rustix::process::setpriority_process(None, (before + NICER).min(NICEST));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn a_thread_that_stands_back_leaves_the_others_alone() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let inside = std::thread::spawn(move || {
            super::stand_back();
            priority()
        });
        assert_eq!(inside.join().unwrap(), (before + 5).min(19));
        assert_eq!(priority(), before);
    }
}
