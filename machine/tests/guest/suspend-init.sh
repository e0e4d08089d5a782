#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# /init of the machine of machine/tests/parts/suspend: print KTAP on the second serial line, then
# reboot, which ends the machine.

# The shell finds its applets in /proc.
busybox mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tracefs none /sys/kernel/tracing
BTS_PROGS=/bin BTS_ACCOUNT=/account.awk busybox sh /life.sh suspend > /dev/ttyS1
reboot -f
