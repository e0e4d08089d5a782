#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/startup.sh: check that the tracer has passed its startup test at boot. The exit status
# identifies the failed step.

dmesg | grep -A 2 "Testing tracer"
# The kernel prints PASSED on the line with the tracer's name, or on a later line.
dmesg | awk '/Testing tracer/ { bts = /tracer bts:/ }
	bts && /PASSED/ { passed = 1 } END { exit !passed }' || exit 2
! dmesg | grep "Testing tracer.*FAILED" || exit 3
echo bts > /sys/kernel/tracing/current_tracer || exit 4
