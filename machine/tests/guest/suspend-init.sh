#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# This is /init in the machine of machine/tests/parts/suspend. It prints KTAP on the second serial
# line, then reboots, which ends the machine.

# The shell finds its applets in /proc.
busybox mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tracefs none /sys/kernel/tracing
BTS_PROGS=/bin BTS_ACCOUNT=/account.awk busybox sh /life.sh suspend > /dev/ttyS1
reboot -f
