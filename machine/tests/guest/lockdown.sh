#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/lockdown.sh: check that the bts tracer is not registered, and that tracefs cannot be opened.
# The exit status identifies the failed step.

dmesg | grep "lockdown\|bts:"
dmesg | grep -q "bts: cannot register the tracer: -1$" || exit 2
! cat /sys/kernel/tracing/available_tracers || exit 3
! sh -c "echo bts > /sys/kernel/tracing/current_tracer" || exit 4
