#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/absent.sh: check that the kernel does not offer the bts tracer. The exit status identifies
# the failed step.

cd /sys/kernel/tracing || exit
! grep -qw bts available_tracers || exit 2
[ "$(dmesg | grep -c "bts: no Branch Trace Store in this machine")" -eq 1 ] || exit 3
! sh -c "echo bts > current_tracer" 2> /dev/null || exit 4
[ "$(cat current_tracer)" = nop ] || exit 5
mkdir instances/other || exit 6
[ -z "$(find . -name events -prune -o -name "bts[-_]*" -print)" ] || exit 6
[ "$(dmesg | grep -c "x86/ds:")" -eq 0 ] || exit 7
