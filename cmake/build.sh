# Functions that ./run, .ci/run and cmake/check share: they install packages, configure and build. Sourced by bash. The variable
# `root` is the source tree, and `tool` the name at the beginning of each line of output.

say() { printf '%s: %s\n' "$tool" "$*" >&2; }
die() { say "$*"; exit 1; }

# install_packages KIND...: installs the missing packages of these kinds in cmake/packages.txt.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this system has no apt-get and dpkg-query (it is not Debian-like). Install the counterparts of" \
        "cmake/packages.txt yourself, then: cmake --preset release && cmake --build --preset release"
  fi
  local kind wanted=() missing=() as_root=() log
  for kind in "$@"; do
    mapfile -t -O "${#wanted[@]}" wanted < <(sed -n "s/^$kind //p" "$root/cmake/packages.txt")
  done
  mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) <(installed "${wanted[@]}" | sort -u))
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "there is no sudo here; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update &&
         "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
           apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get failed; missing: ${missing[*]}"
  fi
  rm -f "$log"
}

# install_python_packages: makes build/python, a virtual environment with the packages of tests/requirements.txt. Without them the tests
# that need them are skipped, so a failure is only reported.
install_python_packages() {
  local folder="$root/build/python" wanted="$root/tests/requirements.txt"
  ! cmp -s "$wanted" "$folder/installed.txt" || return 0
  say "installing the Python packages of tests/requirements.txt"
  if python3 -m venv --clear "$folder" >/dev/null &&
      "$folder/bin/pip" install --quiet --disable-pip-version-check --retries 1 -r "$wanted" >&2; then
    cp "$wanted" "$folder/installed.txt"
  else
    say "the Python packages could not be installed: the tests that need them are skipped"
  fi
}

installed() { dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p'; }

# configure PRESET [NAME=VALUE...]: runs CMake if the build folder is new, the presets have changed, or a value differs.
configure() {
  local preset=$1 log
  shift
  ! is_configured "$preset" "$@" || return 0
  say "configuring build/$preset"
  log=$(mktemp)
  if ! (cd "$root" && cmake --preset "$preset" "${@/#/-D}") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "cmake failed"
  fi
  rm -f "$log"
  touch "$root/build/$preset/CMakeCache.txt"
}

is_configured() {
  local folder="$root/build/$1" setting
  shift
  [ -e "$folder/build.ninja" ] && [ "$folder/CMakeCache.txt" -nt "$root/CMakePresets.json" ] || return 1
  for setting in "$@"; do
    grep -q "^${setting%%=*}:[A-Z]*=${setting#*=}$" "$folder/CMakeCache.txt" || return 1
  done
}

# build PRESET [TARGET...]: builds, and prints only progress, warnings and errors.
build() {
  local preset=$1 line percent next=0
  shift
  NINJA_STATUS='[%p] ' cmake --build "$root/build/$preset" -j "$(nproc)" ${1:+--target "$@"} 2>&1 |
    while IFS= read -r line; do
      if [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
        percent=${BASH_REMATCH[1]}
        if [ "$percent" -ge $next ]; then
          say "building build/$preset: $percent %"
          next=$((percent - percent % 20 + 20))
        fi
      elif [[ $line != "ninja: no work to do." && $line != "-- "* ]]; then
        printf '%s\n' "$line" >&2
      fi
    done || die "the build of build/$preset failed"
}
