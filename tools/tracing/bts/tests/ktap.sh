# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2034
#
# Source this file to print results as KTAP. The function result() counts the tests in $n, and sets
# $failed to 1 if a test failed.

n=0
failed=0

result() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n $2"
	else
		echo "not ok $n $2"
		failed=1
	fi
}
