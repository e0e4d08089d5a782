#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# machine/tests/guest/case.sh SELFTESTS CASE...: run test cases of ftracetest in a new guest.
# Unlike ftracetest, this script does not reset events and triggers, because the reset takes seconds
# in the emulator. The test cases use ftracetest's own functions. The output is KTAP, with the last
# 40 lines of each failed test case's output.
#
# Exit status: 0 if all test cases passed, otherwise 1.

# shellcheck disable=SC2317 # only the test cases call these functions

set -u

FTRACETEST_ROOT=$1
shift
export FTRACETEST_ROOT LC_ALL=C
# shellcheck disable=SC2034 # test cases use this variable
TRACING_DIR=/sys/kernel/tracing
number=0
failed=0

exit_pass() {
	exit 0
}

exit_fail() {
	exit 1
}

# For results other than pass and fail, use exit statuses that no command of a test case returns.
exit_unresolved() {
	exit 102
}

exit_unsupported() {
	exit 104
}

exit_untested() {
	exit 103
}

exit_xfail() {
	exit 105
}

# shellcheck disable=SC1091
. "$FTRACETEST_ROOT/test.d/functions"

# Run a test case. Call this function in a subshell, because a failing test case exits.
run_case() {
	cd "$TRACING_DIR" || exit_unresolved
	echo 1 > options/pause-on-trace
	# shellcheck disable=SC2034 # $$ would be the PID of the parent
	read -r PID _ < /proc/self/stat
	set -ex
	eval check_requires "$(sed -n 's/^# requires://p' "$1")"
	# shellcheck disable=SC1090
	. "$1"
}

echo "TAP version 13"
echo "1..$#"
for case; do
	number=$((number + 1))
	name=${case##*/}
	TMPDIR=$(mktemp -d /tmp/case.XXXXXX)
	export TMPDIR
	(run_case "$case") > "$TMPDIR.log" 2>&1
	status=$?
	case $status in
	0) echo "ok $number ${name%.tc}" ;;
	102 | 103) echo "not ok $number ${name%.tc} # UNRESOLVED" ;;
	104) echo "not ok $number ${name%.tc} # UNSUPPORTED" ;;
	105) echo "ok $number ${name%.tc} # XFAIL" ;;
	*) echo "not ok $number ${name%.tc}" ;;
	esac
	case $status in
	0 | 105) ;;
	*)
		failed=1
		tail -n 40 "$TMPDIR.log" | sed 's/^/# /'
		;;
	esac
	rm -rf "$TMPDIR" "$TMPDIR.log"
done
exit $failed
