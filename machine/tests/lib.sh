# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Functions for the parts of the tests. A part is a program that prints KTAP. The script
# machine/tests/run can set these variables. The defaults are in parentheses:
#
#	BTS_OUT		the part's own directory (build/test/NAME)
#	BTS_KERNEL, BTS_QEMU	kernel image and emulator for machine/vm/run
#	BTS_SELFTESTS	ftrace's selftests (build/linux/tools/testing/selftests/ftrace)
#	BTS_CASE	run only the cases whose names begin with this word
#	BTS_SLOW	if 1, run the slow cases, too
#
# The exit status of a part is 0 if all tests passed, 1 if a test failed, 123 if a console showed an
# oops, a warning or the like, 124 if a machine ran out of time, or 125 if a machine was lost, that
# is, crashed or did not start. The statuses 123 to 125 come from machine/vm/run. The caller must
# set $top.

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
# machine/tests/mutate sets BTS_TOOL to the directory of a mutant of the tool.
# shellcheck disable=SC2034
tool=${BTS_TOOL:-$build/tool}
guests=$top/machine/tests/guest
# Commands in the guest inherit BTS_PROGS, BTS_PACK and BTS_ACCOUNT.
export BTS_PROGS="$build/test-programs"
export BTS_PACK="${BTS_PACK:-0}"
export BTS_ACCOUNT="$cases/account.awk"
mkdir -p "$out"

# result STATUS NAME: print the result of a test.
result() {
	if [ "$1" -eq 0 ]; then
		ktap_test_pass "$2"
	else
		ktap_test_fail "$2"
	fi
}

# check NAME COMMAND...: run COMMAND, which must succeed, and print its output as KTAP comments.
check() {
	check_name=$1
	shift
	"$@" > "$out/check" 2>&1
	check_status=$?
	sed 's/^/# /' "$out/check"
	result $check_status "$check_name"
}

# guest TIMEOUT "OPTIONS" COMMAND...: run COMMAND in a guest, and fail if the console shows an oops,
# a warning or the like. Store the console's output and that of `info bts` in $guest_dir.
#
# OPTIONS should include --icount, so that a busy host does not change the results. A part without
# --icount must explain why. TIMEOUT is in seconds of the host's time, and should be much longer
# than the command usually takes.
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

# ask NAME SCRIPT [OPTION...]: run guest/SCRIPT in a guest, print its output as KTAP comments, and
# return its exit status.
ask() {
	ask_dir=$out/$1
	ask_script=$2
	shift 2
	mkdir -p "$ask_dir"
	"$top/machine/vm/run" --strict --timeout 900 --icount --console "$ask_dir/console" \
		--info-bts "$ask_dir/info" "$@" \
		-- sh "$guests/$ask_script" > "$ask_dir/said" 2>&1 < /dev/null
	ask_status=$?
	sed 's/^/# /' "$ask_dir/said"
	[ "$ask_status" -eq 0 ] || echo "# status $ask_status"
	return $ask_status
}
