#!/usr/bin/env bash
# The one line of bench/README.md builds every benchmark, in a tree without tests, too.
#   bench_targets_test.sh SOURCE_DIR
set -euo pipefail
source=$1 folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
grep -q 'ninja -C build/release benchmarks' "$source/bench/README.md"
cmake -S "$source" -B "$folder" -G Ninja -DTROUPE_TESTS=OFF -DTROUPE_BENCH=ON >"$folder/log" 2>&1 || {
  grep -q 'package configuration file provided by "benchmark"' "$folder/log" &&
    { echo "skipped: Google Benchmark is not installed"; exit 77; }
  cat "$folder/log"
  exit 1
}
commands=$(ninja -C "$folder" -t commands benchmarks)
failed=0
for file in "$source"/bench/*_bench.cpp; do
  name=$(basename "$file" .cpp)
  grep -q -- "-o .*$name " <<<"$commands" || { echo "benchmarks does not build $name"; failed=1; }
done
exit $failed
