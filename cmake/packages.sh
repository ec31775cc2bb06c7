# Debian packages that Stator needs, and how ./run and ./test install them.  Sourced by both; docs/dependencies.md says
# what each library is for.  An entry `package:command` is satisfied by a command of that name from anywhere, so that
# a newer Node.js or CMake installed by hand is left alone.

# shellcheck shell=bash disable=SC2034  # the lists are read by the scripts that source this file
run_packages=(
  g++:g++ cmake:cmake ninja-build:ninja python3:python3
  libboost1.81-dev libcli11-dev libdeflate-dev libfmt-dev libidn2-dev libjemalloc-dev libpq-dev libpsl-dev libre2-dev libsimdjson-dev libssl-dev libunistring-dev libutf8proc-dev libxxhash-dev libyaml-cpp-dev
  librocksdb-dev libsnappy-dev liblz4-dev libzstd-dev libbz2-dev zlib1g-dev
)
console_packages=(nodejs:node npm:npm)  # bundle the console at build time; ./run --no-console does without
test_packages=(
  libgtest-dev python3-boto3 awscli chromium
  clang-format-19 curl:curl fish:fish git:git man-db:man openssl:openssl pgbouncer pkg-config:pkg-config postgresql-15 util-linux:setarch valgrind:valgrind zsh:zsh
)
failover_packages=(postgresql-15-auto-failover)  # installed by the soak suite cluster-failover when it runs

# shellcheck source=cmake/progress.sh
source "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

# Says why it stops, in one line.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# install_missing PACKAGE...: asks dpkg which are missing, and apt for those.  Silent when nothing is.
install_missing() {
  local entry package missing=()
  for entry in "$@"; do
    package=${entry%%:*}
    [[ $entry == *:* ]] && command -v "${entry#*:}" >/dev/null && continue
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] && continue
    missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  [[ $(command -v apt-get) ]] ||
    die "this is not Debian: install the equivalents of Debian 12's ${missing[*]} and build with cmake --preset release"
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      die "neither root nor sudo: ask an administrator for apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  echo "Installing ${#missing[@]} packages: ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  "${as_root[@]}" "${apt[@]}" update || die 'apt-get update failed; its message is above'
  # Debian's PostgreSQL starts a server of its own when it is installed, unless it is told not to.
  local no_cluster=/etc/postgresql-common/createcluster.d/stator-tests.conf
  if [[ ${missing[*]} == *postgresql-* ]]; then
    "${as_root[@]}" sh -c 'mkdir -p "${1%/*}" && echo "create_main_cluster = false" >"$1"' sh "$no_cluster"
  fi
  # The progress has a pipe of its own: scripts of packages stop when they cannot write their own lines.  It is made
  # inside, because sudo closes descriptors.
  (set -o pipefail && "${as_root[@]}" sh -c 'exec "$@" 3>&1 >/dev/null' sh "${apt[@]}" -o APT::Status-Fd=3 \
    install -y --no-install-recommends "${missing[@]}" | follow_apt) ||
    die "apt-get could not install ${missing[*]}; Stator is built on Debian 12, and the message above says what is wrong"
  "${as_root[@]}" rm -f "$no_cluster"
  # Debian's pgbouncer runs once it is installed.  The tests start their own.
  if [[ " ${missing[*]} " == *' pgbouncer '* ]]; then
    if [[ -d /run/systemd/system ]]; then
      "${as_root[@]}" systemctl --quiet disable --now pgbouncer
    else
      "${as_root[@]}" service pgbouncer stop >/dev/null 2>&1 || true
    fi
  fi
}
