# Two commands: `make run` and `make test`. All else is cargo.
.PHONY: run test

# A k6 script against the demo target, both inside one process, and a file with all of the run. Less than a minute. The program is that of the
# tests, so it is compiled once for both; `cargo build --release` makes the one that figures are measured with, in twice the time.
run:
	@tools/need cargo cc node npm
	cargo build --profile fast --locked --package brunt-cli --bin brunt
	@tools/run examples/caching.js

# All tests. A line for each test file, and a line for each failure.
test:
	@tools/need cargo cc curl busybox ip nsenter skopeo unshare node npm chromium nginx redis-server mosquitto openssl influxd prometheus sqlite3 mariadbd postgres nats-server
	@tools/test
