# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# common.sh: functions for tests/run and the scripts of tests/systems. `me` is the script's name, for
# messages.

say() { printf '\n== %s\n' "$1"; }

fail() {
    printf '%s: %s\n' "${me:?}" "$1" >&2
    exit 2
}

must_be_root() {
    [ "$(id -u)" -eq 0 ] || fail "a root directory is made and entered by root alone"
}

# install_packages PACKAGE...: installs the Debian packages that are missing
install_packages() {
    local package missing=()
    command -v dpkg-query >/dev/null || fail "this is not a Debian system; install the equivalents of: $*"
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing ${missing[*]}"
    [ "$(id -u)" -eq 0 ] || fail "not root; run this first: sudo apt-get install ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update || echo "$me: apt-get update failed; trying with the lists that are there" >&2
    apt-get -q -y install --no-install-recommends "${missing[@]}" || fail "apt-get install failed; its messages are above"
}

# systems_directory TREE: prints the directory for root directories and tools
systems_directory() {
    mkdir -p "${ASF_SYSTEMS:-$1/build/systems}"
    realpath "${ASF_SYSTEMS:-$1/build/systems}"
}

# make_debian_root SYSTEM ROOT: makes a root directory by debootstrap, unless it exists
make_debian_root() {
    local suite
    case $1 in
    debian-12) suite=bookworm ;;
    debian-13) suite=trixie ;;
    debian-testing) suite=testing ;;
    *) fail "$1 is not known; see $me --help" ;;
    esac
    [ ! -d "$2" ] || return 0
    say "Making $2 of Debian's $suite"
    rm -rf "$2.part"
    mkdir -p "$2.part"
    debootstrap --variant=minbase "$suite" "$2.part" >"$2.log" 2>&1 ||
        fail "debootstrap $suite failed; its messages are in $2.log"
    # Accept a mirror that is some weeks old.
    echo 'Acquire::Check-Valid-Until "false";' >"$2.part/etc/apt/apt.conf.d/90mirror"
    rm -f "$2.part"/var/cache/apt/archives/*.deb
    mv "$2.part" "$2"
}

# inside ROOT TREE PLACE COMMAND...: runs the command in the root directory ROOT, with TREE mounted at PLACE.
# Its processes and mounts end with it. Uses pivot_root: in a chroot the kernel refuses user namespaces, which
# tests make.
inside() {
    # shellcheck disable=SC2016 # for the shell that unshare runs
    unshare --mount --pid --fork --kill-child bash -eu -c '
        cd "$1"
        tree=$2 place=$3
        shift 3
        mkdir -p ".$place" mnt
        mount --bind . .
        cd "$PWD"
        mount --bind "$tree" ".$place"
        mount -t proc proc proc
        mount --rbind /sys sys
        mount --rbind /dev dev
        mount -t tmpfs -o mode=1777 tmpfs dev/shm
        pivot_root . mnt
        umount -l /mnt
        exec env -C "$place" -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            TERM="${TERM:-dumb}" LANG=C.UTF-8 ${CI:+CI="$CI"} "$@"
    ' bash "$@"
}
