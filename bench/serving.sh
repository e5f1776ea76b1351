#!/usr/bin/env bash
# How many predictions a second `troupe serve` answers, and how late: trains examples/digits.toml, serves it, and has wrk ask for one
# prediction after the other over 64 connections, on the same machine. Needs wrk (Debian package wrk).
#   bench/serving.sh BUILD [SECONDS]
set -euo pipefail
build=$(realpath "${1:?usage: bench/serving.sh BUILD [SECONDS]}")
seconds=${2:-10}
source=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'kill "${server:-}" 2> /dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

"$build/troupe" train "$source/examples/digits.toml" -q
"$build/troupe" serve runs/digits/001 --port 0 --json > url.json &
server=$!
until [ -s url.json ]; do sleep 0.05; done
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' url.json)

printf '{"instances":[[%s]]}' "$(head -1 "$source/examples/digits.csv" | cut -d, -f1-64)" > request.json
cat > post.lua << 'LUA'
wrk.method = "POST"
wrk.body = io.open("request.json"):read("*a")
LUA
wrk -t1 -c64 -d"${seconds}s" --latency -s post.lua "$url/v1/models/digits:predict"
curl -s "$url/metrics" | grep -E '^troupe_serving_(batches|batched_requests)_total'
