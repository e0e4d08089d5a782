# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Shared by the scripts of machine/: directories, and steps that are shown. The caller has
# set $top.

# base is the kernel that the patches are for: $BASE, which is 6.12 (of Debian 12 and 13) or
# mainline (the newest that Debian backports).
base=${BASE:-6.12}
# build is the work directory, of its own for each base. $BTS_BUILD changes it, and other
# scripts find it by that. What is the same for every base is in $common, and $build has links
# to it. The cache stays at `make clean`, and serves every clone.
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

# As many jobs as there are CPUs.
# shellcheck disable=SC2034
jobs=${JOBS:-$(nproc)}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

case $base in
6.12 | mainline) ;;
*) die "BASE=$base: 6.12 or mainline" ;;
esac

# A lock on the whole work directory: two builds at once would overwrite each other's files.
# The descriptor is closed with the script, however the script ends.
lock() {
	mkdir -p "$build" "$log"
	exec 9>"$build/.lock"
	flock -n 9 && return
	[ -n "$quiet" ] || printf 'waiting for another build in %s\n' "$build"
	flock 9
}

# step NAME WORDS COMMAND...: runs COMMAND with its output in build/log/NAME.log and
# shows one line with the time it took. A failure shows the step, the log's end and what
# to do, and ends the script.
#
# COMMAND may be a function: it runs in a subshell under set -e, so that its first
# failure is the step's.
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
		printf 'Is there a way to the Debian mirrors? Try again when there is, or point\n'
		printf 'KSRC= and QEMU_SRC= at source trees of your own.\n'
		;;
	patch*)
		printf 'A patch does not fit this source. If the source is a newer point release\n'
		printf 'than the project knows, please report its version.\n'
		;;
	*)
		printf 'The same command goes on where it stopped. If it looks as if a half-built\n'
		printf 'file is in its way: make clean, which keeps the downloads and the caches.\n'
		;;
	esac
}

# Nothing in the kernel changes with the time, the user and the machine.
reproducible_kernel() {
	export KBUILD_BUILD_TIMESTAMP="Thu Jan  1 00:00:00 UTC 1970"
	export KBUILD_BUILD_USER=bts
	export KBUILD_BUILD_HOST=bts
}

# same_text FILE TEXT: does FILE contain TEXT?
same_text() {
	[ -e "$1" ] && [ "$(cat "$1")" = "$2" ]
}

# put_text FILE TEXT: writes it at once, never a part of it.
put_text() {
	printf '%s\n' "$2" >"$1.new"
	mv "$1.new" "$1"
}
