#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/startup.sh: checks that the kernel has tested the tracer at boot. The exit status
# identifies the failed step.

dmesg | grep -A 2 "Testing tracer"
# PASSED is on the same line, unless another message came between.
dmesg | awk '/Testing tracer/ { bts = /tracer bts:/ }
	bts && /PASSED/ { passed = 1 } END { exit !passed }' || exit 2
! dmesg | grep "Testing tracer.*FAILED" || exit 3
echo bts > /sys/kernel/tracing/current_tracer || exit 4
