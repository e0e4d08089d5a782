#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/tool-absent.sh: check that the user tool reports why it cannot record, and leaves nothing
# behind. The exit status identifies the failed step.

cd /tmp || exit
# The host may have bts-vm installed, and this guest sees the host's files. Do not let bts use
# bts-vm to start an emulated machine inside this guest.
export BTS_VM=none
bts check && exit 2
bts check | grep "^NO .*Branch Trace Store" || exit 3
bts record -- true 2> said && exit 4
cat said
grep "^bts: record: this kernel has no bts tracer" said || exit 5
[ -z "$(ls /sys/kernel/tracing/instances)" ] || exit 6
! [ -e trace.dat ] || exit 7
