#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/boot-events.sh: check that events are recorded even before PID 1 executes init. With
# preempt=full, check that bts_departs shows the function in which a task was preempted. The exit
# status identifies the failed step.

cd /sys/kernel/tracing || exit
echo 0 > tracing_on
grep -m 1 " [^ ]*-1 .*bts_departs: comm=swapper/0 pid=1 " trace || exit 2
grep -m 1 " [^ ]*-1 .*bts_arrives: comm=swapper/0 pid=1 " trace || exit 3
echo 16384 > buffer_size_kb
echo > trace
echo 1 > tracing_on
# Let dd clear a buffer in a loop. A real-time shell preempts dd each time the shell wakes.
taskset -c 0 dd if=/dev/zero of=/dev/null bs=1M &
taskset -c 0 sh -c "dd if=/dev/zero bs=4096 count=300 | chrt -f 10 cat > /dev/null"
# shellcheck disable=SC2016 # the inner shell runs seq
taskset -c 0 chrt -f 10 sh -c 'for n in $(seq 20); do sleep .01; done'
kill $!
wait
echo 0 > tracing_on
echo 0 > events/bts/enable
grep "comm=dd .* state=R+ " trace > /tmp/preempted
grep -m 1 " kernel_ip=\(rep_stos\|clear_user\)" /tmp/preempted || exit 4
[ "$(grep -c " kernel_ip=\(anon_\)\?pipe_write" /tmp/preempted)" -ge 100 ] || exit 5
! grep " kernel_ip=\(raw_irqentry\|preempt_schedule\)" /tmp/preempted || exit 6
# Events that are switched off must not be recorded.
echo > trace
echo 1 > tracing_on
sleep .1
! grep "bts_[ad]" trace || exit 7
