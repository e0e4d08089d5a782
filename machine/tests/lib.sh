# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Functions for the parts. A part is a program that prints KTAP. machine/tests/run may set these
# variables; the defaults are in parentheses:
#
#	BTS_OUT		the part's own directory (build/test/NAME)
#	BTS_KERNEL, BTS_QEMU	image and emulator for machine/vm/run
#	BTS_SELFTESTS	tools/testing/selftests/ftrace (build/linux's)
#	BTS_CASE	run only the cases whose names begin with this word
#	BTS_SLOW	1: run the slow cases too
#
# A part's exit status is 0 if all tests passed, 1 if a test failed, or the status of a machine
# that was lost. The caller has set $top.

# shellcheck source=machine/lib.sh disable=SC2154
. "$top/machine/lib.sh"
# shellcheck source=machine/vm/machine.sh
. "$top/machine/vm/machine.sh"
# shellcheck disable=SC1091 # the file is in the built kernel tree
. "$build/linux/tools/testing/selftests/kselftest/ktap_helpers.sh"

out=${BTS_OUT:-$build/test/${0##*/}}
selftests=${BTS_SELFTESTS:-$build/linux/tools/testing/selftests/ftrace}
# shellcheck disable=SC2034
cases=$selftests/test.d/bts
guests=$top/machine/tests/guest
# Guests inherit these variables.
export BTS_PROGS="$build/test-programs"
export BTS_PACK="${BTS_PACK:-0}"
export BTS_ACCOUNT="$cases/account.awk"
mkdir -p "$out"

# result STATUS NAME: print a test's line.
result() {
	if [ "$1" -eq 0 ]; then
		ktap_test_pass "$2"
	else
		ktap_test_fail "$2"
	fi
}

# check NAME COMMAND...: COMMAND must succeed; its output becomes comments.
check() {
	check_name=$1
	shift
	"$@" > "$out/check" 2>&1
	check_status=$?
	sed 's/^/# /' "$out/check"
	result $check_status "$check_name"
}

# guest TIMEOUT "OPTIONS" COMMAND...: run a guest, which fails if its console shows trouble. The
# console and the output of `info bts` are in $guest_dir.
#
# Guests run with --icount, so a busy host does not change the results; a part without --icount
# gives the reason. TIMEOUT is in seconds of the host, far more than the guest needs.
guest_dir=$out
guest() {
	guest_timeout=$1
	guest_options=$2
	shift 2
	mkdir -p "$guest_dir"
	# shellcheck disable=SC2086 # options
	"$top/machine/vm/run" --strict --timeout "$guest_timeout" --mem 1024 \
		--share "$guest_dir" --console "$guest_dir/console" \
		--info-bts "$guest_dir/info" $guest_options -- "$@"
}

# ask NAME SCRIPT [OPTION...]: run guest/SCRIPT in a guest, and print the output as comments.
# Status 0 means that the guest passed.
ask() {
	ask_name=$1
	ask_script=$2
	shift 2
	"$top/machine/vm/run" --strict --timeout 900 --icount --console "$out/$ask_name" "$@" \
		-- sh "$guests/$ask_script" > "$out/said" 2>&1 < /dev/null
	ask_status=$?
	sed 's/^/# /' "$out/said"
	[ "$ask_status" -eq 0 ] || echo "# status $ask_status"
	return $ask_status
}
