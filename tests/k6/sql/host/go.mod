module brunt.example/sqlhost

go 1.26.8

require (
	github.com/go-sql-driver/mysql v1.9.3
	github.com/grafana/sobek v0.0.0-20260429085637-a66d4790012b
	github.com/lib/pq v1.12.3
	github.com/mattn/go-sqlite3 v1.14.32
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/go-sourcemap/sourcemap v2.1.4+incompatible // indirect
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50 // indirect
	golang.org/x/text v0.3.8 // indirect
)
