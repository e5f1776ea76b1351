#!/usr/bin/env bash
# Makes the packages of a build, unpacks those for Debian into a folder and the archive into another, and looks at them from outside.
#   packages.sh SOURCE BUILD C_COMPILER
set -euo pipefail
source=$1 build=$2 compiler=$3
skip() { echo "skipped: $*"; exit 77; }
for tool in cpack dpkg-deb dpkg-shlibdeps file; do command -v $tool >/dev/null || skip "there is no $tool"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

# The best compression would take a minute.
quietly cpack --config "$build/CPackConfig.cmake" -B "$work/packages" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip
for package in libtroupe0.1 libtroupe-dev troupe; do
  file=$(echo "$work/packages/${package}_0.1.0_"*.deb)
  [ -e "$file" ] || fail "there is no package $package"
  dpkg-deb -c "$file" >"$work/$package.files"
  dpkg-deb -I "$file" >"$work/$package.control"
  grep -q "/usr/share/doc/$package/copyright" "$work/$package.files" || fail "$package has no licence"
  dpkg -x "$file" "$root"
done

# Each package has its part, and says what it needs.
expect() { grep -qE "$2" "$work/$1" || { cat "$work/$1" >&2; fail "$1 has no $2"; }; }
expect libtroupe0.1.files "/libtroupe\.so\.0\.1\.0$"
expect libtroupe0.1.files "/libtroupe_inference\.so\.0\.1\.0$"
expect libtroupe0.1.control "Depends: .*libc6.*libprotobuf.*"
expect libtroupe-dev.files "/libtroupe\.so -> libtroupe\.so\.0\.1$"
expect libtroupe-dev.files "/troupe/troupe\.h$"
expect libtroupe-dev.control "Depends: libtroupe0\.1 \(= 0\.1\.0\)"
expect troupe.files "/usr/bin/troupe$"
expect troupe.files "/man1/troupe-train\.1$"
expect troupe.files "/systemd/system/troupe-node@\.service$"
expect troupe.control "Depends: .*libc6"
! grep -E "/include/|\.so$|/bin/" "$work/libtroupe0.1.files" >&2 || fail "the package of the libraries has more than them"
[ "$(sort "$work"/*.files | grep -v '/$' | awk '{ print $6 }' | uniq -d)" = "" ] || fail "a file is in two packages"
dpkg-deb --ctrl-tarfile "$work"/packages/troupe_*.deb | tar -xO ./postinst | sh -n || fail "postinst is no shell script"

# The program and the library work where they have been unpacked.
"$root/usr/bin/troupe" version >/dev/null
quietly "$root/usr/bin/troupe" train "$source/examples/digits.toml" --set train.max_epochs=1 --set "run.directory=$work/runs"
libraries=$(dirname "$(find "$root/usr" -name libtroupe.so)")
flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR="" pkg-config --cflags --libs troupe)
# shellcheck disable=SC2086 # the flags are words
quietly "$compiler" -std=c11 "$source/tests/install/consumer/c_nulls.c" $flags -o "$work/program"
LD_LIBRARY_PATH=$libraries "$work/program"

# systemd knows all keys of the units. It looks for the program and the manual in this system.
if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify "$root"/usr/lib/systemd/system/troupe-*.service >"$work/verified" 2>&1 || true
  ! grep -vE "Command troupe is not executable|Command 'man |^$" "$work/verified" >&2 || fail "systemd finds mistakes in a unit"
fi

mkdir "$work/archive"
tar -xzf "$work"/packages/troupe-0.1.0-Linux.tar.gz -C "$work/archive" --strip-components 1
"$(find "$work/archive" -path '*/bin/troupe')" version >/dev/null
[ -n "$(find "$work/archive" -name libtroupe.so.0.1.0)" ] || fail "the archive has no library"
