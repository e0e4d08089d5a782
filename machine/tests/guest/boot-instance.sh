#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/boot-instance.sh: trace a program in the instance that the kernel's command line creates.
# The trace must contain exactly the expected branches. The exit status identifies the failed step.

cd /sys/kernel/tracing/instances/early || exit 2
[ "$(cat current_tracer)" = nop ] || exit 3
echo 0 > options/bts-kernel
echo 0 > options/bts-map
echo 0 > tracing_on
echo bts > current_tracer
"$BTS_PROGS/bts_launch" "$BTS_PROGS/bts_loop" > /tmp/pids
echo 1 > ../../options/raw
echo 1 > options/raw
cat trace > /tmp/trace
"$BTS_PROGS/bts_compare" "$BTS_PROGS/bts_loop.expect" /tmp/trace || exit 4
[ "$(cat ../../current_tracer)" = nop ] || exit 5
