#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/boot-tracer.sh: check that bts has traced the whole boot. The exit status identifies the
# failed step.

cd /sys/kernel/tracing || exit
[ "$(cat current_tracer)" = bts ] || exit 2
[ "$(cat options/bts-user)$(cat options/overwrite)" = 00 ] || exit 3
echo 0 > tracing_on
grep -v "^#" trace > /tmp/trace
head -n 1 /tmp/trace
grep -m 1 "swapper/0-1 .*do_one_initcall" /tmp/trace || exit 4
[ "$(grep -c ' 0x[0-9a-f]* -> 0x[0-9a-f]*$' /tmp/trace)" -eq 0 ] || exit 5
awk -f "$BTS_ACCOUNT" -v least=1 bts_stats || exit 6
echo nop > current_tracer
