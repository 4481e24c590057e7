#!/bin/sh
# The image handler under two rates, without a cache and with one: the published benchmark, scaled down.
#
#   run.sh [SECONDS [RATE]]
#
# Four attacks of SECONDS each (30): RATE (400) and twice RATE on a server without a cache, then on one
# with. The server is `brunt demo`: two threads, 10 ms per image, so that it makes 200 images per second.
# Everything runs on this machine. Results stay in the folder OUT (image-handler-results).
#
#   BRUNT=…  the brunt to use; by default the one in PATH
#   REAL=1   really work on pictures; how many the server then makes depends on the machine
#   FLAGS=…  more flags for `brunt demo`: "--cpu 74ms --instances 10 --threads 4" is the size of the original
set -eu

seconds=${1:-30}
rate=${2:-400}
brunt=${BRUNT:-brunt}
out=${OUT:-image-handler-results}
here=$(dirname "$0")

whole() {
    case $2 in
    '' | *[!0-9]*) echo "$1 must be a whole number, not '$2'" >&2 && exit 2 ;;
    esac
    if [ "${#2}" -gt 5 ] || [ "$2" -lt 1 ] || [ "$2" -gt "$3" ]; then
        echo "$1 must be from 1 to $3, not $2" >&2
        exit 2
    fi
}
whole SECONDS "$seconds" 3600
whole RATE "$rate" 20000
mkdir -p "$out"

server=
finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
        server=
    fi
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The time to live is the length of a round, as it was in the benchmark: the second round finds only
# images that are too old.
serve() {
    if [ -z "${REAL:-}" ]; then
        set -- --synthetic --cpu 10ms "$@"
    fi
    rm -f "$out/server.json"
    # shellcheck disable=SC2086 # flags are several words
    "$brunt" demo --json --listen 127.0.0.1:0 --faults-listen none --threads 2 \
        --cache-ttl "${seconds}s" "$@" ${FLAGS:-} >"$out/server.json" 2>"$out/server.log" &
    server=$!
    tries=0
    until [ -s "$out/server.json" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 10 ] || ! kill -0 "$server" 2>/dev/null; then
            echo "the server did not start:" >&2
            cat "$out/server.log" >&2
            exit 1
        fi
        sleep 1
    done
    url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$out/server.json")
    sh "$here/targets.sh" "$url" >"$out/urls.txt"
}

attack() {
    echo
    echo "== $1: $2/s for $seconds s"
    "$brunt" attack -name="$1" -format=http -targets="$out/urls.txt" -rate="$2/s" -duration="${seconds}s" \
        -timeout=300s | tee "$out/$1.bin" | "$brunt" report
}

# One row: what was good, what was refused, and the latencies of both together and of the good alone.
row() {
    "$brunt" encode -to csv "$out/$1.bin" | cut -d, -f1-3 >"$out/$1.csv"
    all=$(cut -d, -f3 "$out/$1.csv" | sort -n | percentile 50)
    good=$(awk -F, '$2 == 200 { print $3 }' "$out/$1.csv" | sort -n | percentile 50)
    good99=$(awk -F, '$2 == 200 { print $3 }' "$out/$1.csv" | sort -n | percentile 99)
    awk -F, -v name="$1" -v all="$all" -v good="$good" -v good99="$good99" -v seconds="$seconds" '
        $2 == 200 { ok++ }
        $2 == 429 { refused++ }
        END {
            printf "%-10s %9d %9d %9d %11.1f %10s %12s %12s\n", name, ok, refused, NR - ok - refused,
                ok / seconds, all, good, good99
        }' "$out/$1.csv"
}

# The value at P percent of sorted nanoseconds, in milliseconds.
percentile() {
    awk -v p="$1" '{ at[NR] = $1 } END {
        if (NR == 0) { print "-"; exit }
        n = int(NR * p / 100 + 0.999999); if (n < 1) n = 1
        printf "%.2f\n", at[n] / 1e6
    }'
}

# Refusals in each second of a round, as far as there were any.
spikes() {
    sort -t, -k1,1n "$out/$1.csv" | awk -F, -v name="$1" '
        NR == 1 { begin = $1 }
        $2 != 200 { second = int(($1 - begin) / 1e9); count[second]++; if (second > last) last = second }
        END {
            printf "%s:", name
            for (s = 0; s <= last; s++) if (count[s]) printf " second %d: %d", s + 1, count[s]
            print ""
        }'
}

double=$((rate * 2))
serve --no-cache
attack "old-$rate" "$rate"
attack "old-$double" "$double"
finish
serve
attack "new-$rate" "$rate"
attack "new-$double" "$double"
finish

echo
printf '%-10s %9s %9s %9s %11s %10s %12s %12s\n' \
    run 200 429 other '200s per s' 'p50 of all' 'p50 of 200s' 'p99 of 200s'
for run in "old-$rate" "old-$double" "new-$rate" "new-$double"; do
    row "$run"
done
echo
echo "What was not answered by 200, second by second:"
spikes "new-$rate"
spikes "new-$double"

"$brunt" plot -title "Image handler, without and with a cache" \
    "$out/old-$rate.bin" "$out/old-$double.bin" "$out/new-$rate.bin" "$out/new-$double.bin" >"$out/plot.html"
echo
echo "Latencies over time: $out/plot.html"
