#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Puts a real Blender (with a window, not the `bpy` module) into a folder of its own and prints the path of a `blender`
# command that runs it. Debian's unstable suite carries Blender 5.2 LTS; only if installing that fails is the stable
# suite's 4.3 taken instead, and said so. Needs Debian or a relative of it, and root.
#
#   prepare_blender.sh [FOLDER]      FOLDER: default real-blender in the cache folder of build.py
#
# The folder is reused when it is there and its Blender starts. The `blender` command enters the folder with chroot and
# binds /proc, /sys, /dev, /tmp, the test tools of build.py and the folder it is called from in a mount namespace of its
# own: paths mean the same inside and outside, and nothing stays mounted.
set -euo pipefail

cache=${1:-${CONTACT_LENS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/contact_lens}/real-blender}
packages=(blender xvfb xauth libgl1-mesa-dri libegl1 imagemagick python3-numpy python3-cattr python3-requests)

say() { printf '%s\n' "$*" >&2; }

apt_mirror() { # the first plain Debian mirror of the machine's own apt configuration
    apt-get indextargets --format '$(SITE) $(CODENAME) $(ORIGIN)' 'Created-By: Packages' 2>/dev/null |
        awk '$3 == "Debian" && $2 !~ /security/ { print $1; exit }'
}

write_command() { # root -> FOLDER/bin/blender
    local root=$1 out=$cache/bin/blender
    mkdir -p "$cache/bin"
    cat >"$out.new" <<EOF
#!/usr/bin/env bash
# Runs the Blender in $root. Made by .ci/prepare_blender.sh.
set -euo pipefail
export CONTACT_LENS_CHROOT='$root' CONTACT_LENS_CWD="\$PWD"
export CONTACT_LENS_TOOLS="\${CONTACT_LENS_CACHE:-\${XDG_CACHE_HOME:-\$HOME/.cache}/contact_lens}/tools"
exec unshare --mount --propagation private bash -c '
    set -e
    for folder in /proc /sys /dev /tmp "\$CONTACT_LENS_TOOLS" "\$CONTACT_LENS_CWD"; do
        [ -d "\$folder" ] && [ "\$folder" != / ] || continue
        mkdir -p "\$CONTACT_LENS_CHROOT\$folder"
        mount --rbind "\$folder" "\$CONTACT_LENS_CHROOT\$folder"
    done
    exec chroot "\$CONTACT_LENS_CHROOT" /usr/bin/env -C "\$CONTACT_LENS_CWD" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 blender "\$@"
' blender "\$@"
EOF
    chmod 755 "$out.new"
    mv "$out.new" "$out"
}

works() { # root: the Blender in there starts
    [ -x "$1/usr/bin/blender" ] || return 1
    write_command "$1"
    # As any running system has; without it Blender warns on standard output in its first moments.
    [ -e "$1/etc/mtab" ] || ln -sfn /proc/self/mounts "$1/etc/mtab"
    (cd /tmp && "$cache/bin/blender" --version) >"$cache/version.txt" 2>&1
}

install_suite() { # suite
    local suite=$1 root=$cache/$1
    say "Installing Blender from Debian $suite into $root (some minutes, 2 GB) ..."
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$cache/$suite.log" 2>&1 || return 1
    # No services may start in there, and a mirror that lags behind its own index date is good enough.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    printf 'Acquire::Check-Valid-Until "false";\nAPT::Install-Recommends "false";\nAcquire::Retries "3";\n' \
        >"$root/etc/apt/apt.conf.d/90contact-lens"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    unshare --mount --propagation private bash -c '
        mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" || exit 1
        export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
        root=$0
        chroot "$root" apt-get update && chroot "$root" apt-get install -y "$@" && chroot "$root" apt-get clean
    ' "$root" "${packages[@]}" >>"$cache/$suite.log" 2>&1
}

[ "$(id -u)" = 0 ] || { say "prepare_blender.sh needs root for chroot."; exit 2; }
mkdir -p "$cache"
reuse() {
    works "$cache/$1" || return 1
    say "Reusing $(head -n 1 "$cache/version.txt") in $cache/$1."
    printf '%s\n' "$cache/bin/blender"
}
if reuse unstable; then exit 0; fi
command -v debootstrap >/dev/null || { say "prepare_blender.sh needs debootstrap (apt-get install debootstrap)."; exit 2; }
mirror=$(apt_mirror)
[ -n "$mirror" ] || { say "No Debian mirror in this machine's apt configuration: run apt-get update first."; exit 2; }
for suite in unstable stable; do
    if install_suite "$suite" && works "$cache/$suite"; then
        say "Installed $(head -n 1 "$cache/version.txt") from $suite."
        printf '%s\n' "$cache/bin/blender"
        exit 0
    fi
    say "Blender could not be installed from Debian $suite; the end of $cache/$suite.log:"
    tail -n 15 "$cache/$suite.log" >&2 || true
    if [ "$suite" = unstable ]; then
        say "FALLING BACK to Debian stable (Blender 4.3): the tests then run on that version."
        # Only now: a fallback of an earlier time must not hide that unstable can be installed again.
        if reuse stable; then exit 0; fi
    fi
done
exit 1
