#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/startup.sh: the kernel has tested the tracer at boot. The exit status says which step
# has failed.

dmesg | grep -A 2 "Testing tracer"
# On the same line, unless another message came between them.
dmesg | awk '/Testing tracer/ { bts = /tracer bts:/ }
	bts && /PASSED/ { passed = 1 } END { exit !passed }' || exit 2
! dmesg | grep "Testing tracer.*FAILED" || exit 3
echo bts > /sys/kernel/tracing/current_tracer || exit 4
