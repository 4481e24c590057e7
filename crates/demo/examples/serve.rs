//! The demo target alone, without the rest of brunt: `cargo run -p brunt-demo --example serve -- ADDR`.
//! It serves until its standard input ends.
#![expect(clippy::print_stdout, reason = "a program that people start by hand tells its address")]

use std::io::Read;

use brunt_demo::{Demo, DemoConfig, DemoError};

fn main() -> Result<(), DemoError> {
    let mut config = DemoConfig::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--tls" => config.tls = true,
            "--fast" => config = DemoConfig { listen: config.listen, ..DemoConfig::fast() },
            addr => {
                config.listen = addr.parse().map_err(|_| {
                    DemoError::Config(format!("{addr} is not an address such as 127.0.0.1:8080"))
                })?;
            }
        }
    }
    let handle = Demo::start(config)?;
    println!("{}  redis {}  faults {:?}", handle.url(), handle.redis_url(), handle.faults_addr());
    // Whether it ends or fails: both mean that its other end is closed.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    handle.stop();
    Ok(())
}
