#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/refused.sh WORDS: check that choosing the tracer fails with EIO, that error_log contains
# WORDS, that BTS is off, and that perf can use BTS. The exit status identifies the failed step.

cd /sys/kernel/tracing || exit
sh -c "echo bts > current_tracer" 2> /tmp/said && exit 2
cat /tmp/said error_log
grep -q "I/O error" /tmp/said || exit 3
grep -q "$1" error_log || exit 4
[ "$(cat current_tracer)" = nop ] || exit 5
[ "$(sed -n "s/^cpus_recording: //p" bts_stats)" -eq 0 ] || exit 6
perf record -q -e branches:u -c 1 -o /dev/null -- true || exit 7
