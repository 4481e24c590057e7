#!/bin/sh
# How near does `brunt find` come? Three systems of known capacity, each searched with steps of HOLD (20s).
#
#   run.sh [HOLD]
#
# The image handler of the demo at two settings (threads / time of an image), and a queue with one server and exponential service.
# Requests come evenly, so that queue is D/M/1: p95 = ln 20 / (µ (1 − σ)) with σ = exp(−(1 − σ) µ / λ). With µ = 200/s and a goal of
# 50 ms that is 168.3/s. Needs brunt (BRUNT=…), node and jq.
set -eu
hold=${1:-20s}
brunt=${BRUNT:-brunt}
here=$(dirname "$0")
out=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$out"
}
trap finish EXIT

# told NAME TRUTH URL GOAL…
told() {
    name=$1 truth=$2 url=$3
    shift 3
    set -- "$@" --hold "$hold" --json
    "$brunt" find "$@" -e "URL=$url" "$here/get.js" >"$out/found.json" 2>"$out/found.log" || cat "$out/found.log"
    jq -r --arg name "$name" --argjson truth "$truth" \
        '"\($name): true \($truth)/s, found \(.held)/s (\((.held / $truth - 1) * 1000 | round / 10) %), \(.steps | length) steps, \(.outcome)"' \
        "$out/found.json"
}

await() {
    tries=0
    until [ -s "$out/address" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { echo "the server did not start" >&2; exit 1; }
        sleep 0.1
    done
}

image() {
    name=$1 truth=$2
    shift 2
    rm -f "$out/address"
    "$brunt" demo --json --listen 127.0.0.1:0 --faults-listen none --synthetic --no-cache "$@" >"$out/address" 2>/dev/null &
    server=$!
    await
    told "$name" "$truth" "$(jq -r .url "$out/address")/example.jpg?x-oss-process=image/resize,w_100/quality,q_80/format,jpg" \
        --goal 'http_req_failed rate<1%'
    kill "$server"
    wait "$server" 2>/dev/null || true
}

image "image handler, 2 threads, 10 ms" 200 --threads 2 --cpu 10ms
image "image handler, 2 x 4 threads, 20 ms" 400 --instances 2 --threads 4 --cpu 20ms

rm -f "$out/address"
node "$here/queue.mjs" 0 5 1 >"$out/address" &
server=$!
await
told "queue, exponential service of 5 ms, p95<50ms" 168.3 "$(cat "$out/address")" --goal 'http_req_duration p(95)<50'
