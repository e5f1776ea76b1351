#!/usr/bin/env bash
# Installs a build into a temporary place and looks at it from outside: what is there, what the library exports and needs,
# examples/embed and the programs of consumer/ built with nothing but find_package.
#   run.sh SOURCE BUILD CMAKE_OPTION...
set -euo pipefail
source=$1 build=$2
options=("${@:3}")
here=$source/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

quietly cmake --install "$build" --prefix "$prefix"
library=$(find "$prefix" -name libtroupe.so)
[ -n "$library" ] || fail "no libtroupe.so is installed"
for file in bin/troupe share/man/man1/troupe.1 share/man/man1/troupe-train.1 include/troupe/troupe.h include/troupe/training.h include/troupe/model_export.h include/troupe/row_model.h include/troupe/samples.h include/troupe/variable_files.h include/troupe/cluster_file.h include/troupe/runtime_metrics.h include/troupe/inference.h include/troupe/c/troupe.h include/troupe/c/inference.h include/troupe/op.h include/troupe/service.h include/troupe/messages/values/tensor.h; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done
[ -e "${library%/*}/cmake/troupe/troupeConfig.cmake" ] || fail "there is no package for find_package"
"$prefix/bin/troupe" version >/dev/null

# members_of FILE: prints the paths of the sources that are compiled as this file: of several, if it is a unit (troupe_join).
members_of() {
  local members
  members=$(find "$build" -path "*_units/$1" -exec sed -n "s|^#include \"\(.*\)\"|$source/\1|p" {} +)
  if [ -n "$members" ]; then echo "$members"; else find "$source/actors" "$source/apps" -name "$1"; fi
}

# look_at LIBRARY SYMBOL NEEDED: checks what a library exports, needs, and does when it is loaded.
look_at() {
  # Symbols: names of the public headers, and nothing of what the library is made of.
  nm -DC --defined-only "$1" | cut -d' ' -f3- >"$work/versioned"
  ! grep -vE '@@TROUPE_0\.1$|^TROUPE_0\.1$' "$work/versioned" >&2 || fail "these symbols have no version"
  sed '/^TROUPE_0\.1/d; s/@@TROUPE_0\.1$//' "$work/versioned" >"$work/exports"
  sed -E ':again; s/<[^<>]*>//g; t again' "$work/exports" >"$work/names"  # without template arguments
  grep -q "^$2(" "$work/exports" || fail "$2 is not exported"
  ! grep -vE '^(vtable for |typeinfo for |typeinfo name for )?([^(]* )?troupe::|^troupe_[a-z_]+$' "$work/names" >&2 || fail "these are exported"
  ! grep -E '(caf|capnp|kj|boost|tbb|dnnl|hwy|re2|Eigen|google|wire)::|::Impl::' "$work/exports" |
    grep -vE '^troupe::detail::(seal|make_schema_check)\(' >&2 || fail "these are exported"
  sed -E 's/^(vtable for |typeinfo for |typeinfo name for )?([^(]* )?troupe::(nn::)?([A-Za-z0-9_]+).*/\4/' "$work/names" | sort -u |
    while read -r name; do
      grep -rqw -- "$name" "$prefix/include" || fail "troupe::$name is exported and stands in no public header"
    done

  # What it needs is what it says it needs, and loading it runs no code of ours (the headers of Boost.Asio, CAF and protobuf have some, and
  # with a sanitizer Eigen's; CUDA registers its kernels).
  ! readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE "^($common|$3)[-.]|ld-linux" >&2 || fail "these are needed"
  local file members
  for file in $(nm "$1" | sed -n 's/.*_GLOBAL__sub_I_\(.*\.cpp\)$/\1/p' | grep -v '\.cudafe1\.cpp$'); do
    members=$(members_of "$file")
    grep -q "/apps/interop/" <<<"$members" || xargs -r grep -qE "#include <(boost/asio|caf/)" <<<"$(grep /actors/ <<<"$members")" ||
      readelf -d "$1" | grep -q libasan ||
      fail "$file has a static constructor"
  done
}
common='lib(capnp|curl|protobuf|kj|tbb|z|dnnl|hwy|gif|gomp|icuuc|icudata|jpeg|png16|re2|zstd|stdc\+\+|m|gcc_s|c|asan|ubsan)'
look_at "$library" troupe::Session::run 'lib(caf_core|ssl|crypto|fmt|simdjson|tomlplusplus)'
look_at "${library%/*}/libtroupe_inference.so" troupe::Model::run none

# Public headers bring std and our own; <troupe/service.h> alone brings Cap'n Proto.
compiler=$(printf '%s\n' "${options[@]}" | sed -n 's/^-DCMAKE_CXX_COMPILER=//p')
printf '#include <troupe/%s.h>\n' troupe op training samples inference >"$work/all.cpp"
"$compiler" -std=c++20 -I "$prefix/include" -M "$work/all.cpp" | tr -s ' \\' '\n' >"$work/headers"
! grep -E '/(caf|capnp|kj|boost|eigen3|Eigen|fmt|spdlog|dnnl|oneapi|google|hwy|openssl|re2|tbb|unicode)/' "$work/headers" >&2 || fail "public headers include these"

build_consumer() {  # FOLDER NAME
  quietly cmake -S "$1" -B "$work/$2" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "${options[@]}"
  quietly cmake --build "$work/$2"
}

# What the programs say on stderr is seen, and is an error.
run() {  # PROGRAM ARGUMENT...
  "$@" >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err" >&2; fail "$1 exits with $?"; }
  [ ! -s "$work/err" ] || { cat "$work/err" >&2; fail "$1 writes to stderr"; }
}

build_consumer "$source/examples/embed" embed
run "$work/embed/stateful"
[ "$(tr '\n' ' ' <"$work/out")" = "3 7 15 " ] || { cat "$work/out" >&2; fail "stateful does not print 3, 7, 15"; }
run "$work/embed/train"
awk '/^step/ { loss = $4 + 0; if (NR > 1 && loss >= first) exit 1; if (NR == 1) first = loss }
     END { exit NR != 5 || loss > 0.5 * first }' "$work/out" || { cat "$work/out" >&2; fail "train does not learn"; }

run "$work/embed/gan"
awk '{ exit !($1 >= 80 && $(NF - 4) == 8) }' "$work/out" || { cat "$work/out" >&2; fail "gan does not learn the ring"; }
run "$work/embed/cartpole"
awk 'END { exit !($2 == "400:" && $3 >= 100) }' "$work/out" || { cat "$work/out" >&2; fail "cartpole does not learn to balance"; }

run "$work/embed/run_file" "$source/examples/digits.toml" "$work/runs"
tail -1 "$work/out" | grep -qx "takes image" && grep -q "^accuracy = 0\.9" "$work/out" || { cat "$work/out" >&2; fail "run_file does not learn"; }
[ -e "$work/runs/digits/001/result.json" ] || fail "run_file leaves no run"
run "$work/embed/digits" "$source/examples/digits.toml" "$work/c_digits"
tail -1 "$work/out" | grep -qE "^class [0-9]$" || { cat "$work/out" >&2; fail "digits computes no class"; }
run "$work/embed/classify" "$work/c_digits/digits/001"
grep -qx "takes image" "$work/out" && tail -1 "$work/out" | grep -qE "^class [0-9]$" || { cat "$work/out" >&2; fail "classify computes no class"; }
run "$work/embed/ops"  # Swish at -1, 0 and 1, then its derivative
[ "$(tr '\n' ' ' <"$work/out")" = "-0.268941 0 0.731059 0.0723295 0.5 0.927671 " ] || { cat "$work/out" >&2; fail "ops is wrong"; }
run "$work/embed/service"
head -2 "$work/out" | tr -d '\n' | grep -qx "0 1 0 2 1 3 " || { cat "$work/out" >&2; fail "service numbers words wrongly"; }
tail -1 "$work/out" | grep -qF "no room for 'gnu': the vocabulary has capacity 4" || { cat "$work/out" >&2; fail "a full vocabulary does not say so"; }

run "$work/embed/predict" "$source/tests/golden/models/functions"
[ "$(tail -3 "$work/out" | tr '\n' ' ')" = "best = int64[1] same = float[1,3] scores = float[1,2] " ] || { cat "$work/out" >&2; fail "predict is wrong"; }

# Without CMake: pkg-config, also after the installation has been moved.
option() { printf '%s\n' "${options[@]}" | sed -n "s/^-D$1=//p"; }
pkgconfig() {  # COMPILER FLAGS PACKAGE SOURCE
  local found
  found=$(PKG_CONFIG_PATH=$moved/pkgconfig pkg-config --cflags --libs "$3 >= 0.1") || fail "pkg-config does not find $3"
  # shellcheck disable=SC2086 # the flags are words
  quietly $1 $2 "$4" $found "-Wl,-rpath,$moved" -o "$work/pkgconfig"
}
flags=$(printf '%s\n' "${options[@]}" | sed -n 's/^-DCMAKE_CXX_FLAGS_[A-Z]*=//p')
CXX=$compiler CXXFLAGS=$flags quietly python3 "$source/tests/apps/commands/tutorials_test.py" "$prefix/bin/troupe" "$source" \
  "$source/docs/tutorials/embedding.md" "$prefix"
folder=${library%/*}
moved=$work/moved/${folder#"$prefix/"}
mv "$prefix" "$work/moved"
pkgconfig "$compiler" "-std=c++20 $flags" troupe "$source/examples/embed/stateful.cpp"
run "$work/pkgconfig"
pkgconfig "$compiler" "-std=c++20 $flags" troupe-inference "$source/examples/embed/predict.cpp"
run "$work/pkgconfig" "$source/tests/golden/models/functions"
pkgconfig "$(option CMAKE_C_COMPILER)" "-std=c11 $flags" troupe "$here/consumer/c_nulls.c"
run "$work/pkgconfig"
pkgconfig "$(option CMAKE_C_COMPILER)" "-std=c11 $flags" troupe-inference "$source/examples/embed/classify.c"
run "$work/pkgconfig" "$work/c_digits/digits/001"
mv "$work/moved" "$prefix"

build_consumer "$here/consumer" consumer
run "$work/consumer/citizen"
run "$work/consumer/c_nulls"
run "$work/consumer/c_graphs"
run "$work/consumer/c_sessions" "$work/c_checkpoints"
mkdir "$work/c_cluster"
run "$work/consumer/c_clusters" "$prefix/bin/troupe" "$work/c_cluster"
run "$work/consumer/c_inference" "$source/tests/golden/models/functions"
run "$work/consumer/c_models" "$source/examples/digits.toml" "$work/c_runs"
run "$work/consumer/late" "$library" "${library%/*}/libtroupe_inference.so"

# As a subdirectory of another project: it is configured, and a program compiles; building all of Troupe once more would take too long.
quietly cmake -S "$here/parent" -B "$work/parent" -G Ninja -DTROUPE="$source" "${options[@]}"
quietly cmake --build "$work/parent" --target CMakeFiles/parent_troupe.dir/troupe.cpp.o CMakeFiles/parent_inference.dir/inference.cpp.o
