# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Directories and build steps for the scripts in machine/. The caller must set $top.

# $base names the kernel to patch: 6.12 (of Debian 12 and 13), or mainline (the newest kernel in
# Debian's backports).
base=${BASE:-6.12}
# $build is the work directory. Each $base has its own $build, unless $BTS_BUILD is set. The files
# that do not depend on the base are in $common, and $build contains links to them. All clones of
# the project share the downloads and caches in $cache, which `make clean` keeps.
build=${BTS_BUILD:-$top/build}
# shellcheck disable=SC2034
common=$build
if [ "$base" = mainline ]; then
	[ -n "${BTS_BUILD:-}" ] || build=$top/build/mainline
	# shellcheck disable=SC2034
	common=${build%/mainline}
	export BTS_BUILD="$build"
fi
# shellcheck disable=SC2034
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bts
log=$build/log
quiet=${quiet:-}

# shellcheck disable=SC2034
jobs=${JOBS:-$(nproc)}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

case $base in
6.12 | mainline) ;;
*) die "BASE=$base: must be 6.12 or mainline" ;;
esac

# Lock the work directory, because two builds at the same time would overwrite each other's files.
# The kernel releases the lock when the script ends, even if a signal ends it.
lock() {
	mkdir -p "$build" "$log"
	exec 9>"$build/.lock"
	flock -n 9 && return
	[ -n "$quiet" ] || printf 'waiting for another build in %s\n' "$build"
	flock 9
}

# step NAME WORDS COMMAND...: run COMMAND, write its output to build/log/NAME.log, and print one
# line with WORDS and the duration. If COMMAND fails, print the end of the log, give advice, and
# exit. COMMAND may be a function. The step fails if any command in this function fails.
step() {
	step_name=$1
	step_words=$2
	shift 2
	mkdir -p "$log"
	step_start=$(date +%s)
	[ -n "$quiet" ] || printf '  %-58s' "$step_words"
	set +e
	(
		set -e
		exec 9>&-
		"$@"
	) >"$log/$step_name.log" 2>&1 </dev/null
	step_status=$?
	set -e
	step_time=$(($(date +%s) - step_start))
	if [ "$step_status" -ne 0 ]; then
		[ -n "$quiet" ] || printf 'FAILED after %d s\n' "$step_time"
		step_failed >&2
		exit 1
	fi
	[ -n "$quiet" ] || printf '%4d s\n' "$step_time"
}

step_failed() {
	printf '\nThis step failed: %s. The end of %s:\n\n' "$step_words" "$log/$step_name.log"
	tail -n 25 "$log/$step_name.log" | sed 's/^/    /'
	printf '\n'
	case $step_name in
	fetch*)
		printf 'Can this machine reach a Debian mirror? Try again when it can, or point\n'
		printf 'KSRC= and QEMU_SRC= to your own source trees.\n'
		;;
	patch*)
		printf 'A patch does not fit this source. If machine/tree/lock does not list this\n'
		printf 'version of the source, please report the version.\n'
		;;
	*)
		printf 'Repeat the command to continue where it stopped. If a half-built file seems to\n'
		printf 'be the cause, run make clean, which keeps the downloads and the caches.\n'
		;;
	esac
}

# Do not store the build's time, user and host in the kernel image.
reproducible_kernel() {
	export KBUILD_BUILD_TIMESTAMP="Thu Jan  1 00:00:00 UTC 1970"
	export KBUILD_BUILD_USER=bts
	export KBUILD_BUILD_HOST=bts
}

# same_text FILE TEXT: succeed if FILE contains exactly TEXT.
same_text() {
	[ -e "$1" ] && [ "$(cat "$1")" = "$2" ]
}

# put_text FILE TEXT: write TEXT to FILE atomically.
put_text() {
	printf '%s\n' "$2" >"$1.new"
	mv "$1.new" "$1"
}
