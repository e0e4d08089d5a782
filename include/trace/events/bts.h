/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These events show that a task departs from a CPU or arrives at a CPU. The departures and
 * arrivals of a task alternate, even if the task moves to another CPU. The task runs from each
 * arrival to the next departure. Documentation/trace/bts-internals.rst describes the fields.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bts

#if !defined(_TRACE_BTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_BTS_H

#include <linux/bts_events.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

TRACE_EVENT(bts_departs,

	TP_PROTO(struct task_struct *p, const struct bts_departs *d),

	TP_ARGS(p, d),

	TP_STRUCT__entry(
		__array(	char,		comm,	TASK_COMM_LEN	)
		__field(	pid_t,		pid			)
		__field(	pid_t,		tgid			)
		__field(	unsigned long,	user_ip			)
		__field(	unsigned long,	kernel_ip		)
		__field(	unsigned int,	state			)
		__field(	bool,		voluntary		)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->tgid		= p->tgid;
		__entry->user_ip	= d->user_ip;
		__entry->kernel_ip	= d->kernel_ip;
		__entry->state		= d->state;
		__entry->voluntary	= d->voluntary;
	),

	TP_printk("comm=%s pid=%d tgid=%d %s state=%s%s user_ip=0x%lx kernel_ip=%pS",
		  __entry->comm, __entry->pid, __entry->tgid,
		  __entry->voluntary ? "voluntary" : "preempted",
		  (__entry->state & (TASK_REPORT_MAX - 1)) ?
		  __print_flags(__entry->state & (TASK_REPORT_MAX - 1), "|",
				{ TASK_INTERRUPTIBLE, "S" },
				{ TASK_UNINTERRUPTIBLE, "D" },
				{ __TASK_STOPPED, "T" },
				{ __TASK_TRACED, "t" },
				{ EXIT_DEAD, "X" },
				{ EXIT_ZOMBIE, "Z" },
				{ TASK_PARKED, "P" },
				{ TASK_DEAD, "I" }) :
		  "R",
		  __entry->state & TASK_REPORT_MAX ? "+" : "",
		  __entry->user_ip, (void *)__entry->kernel_ip)
);

TRACE_EVENT(bts_arrives,

	TP_PROTO(struct task_struct *p, unsigned long user_ip),

	TP_ARGS(p, user_ip),

	TP_STRUCT__entry(
		__array(	char,		comm,	TASK_COMM_LEN	)
		__field(	pid_t,		pid			)
		__field(	pid_t,		tgid			)
		__field(	unsigned long,	user_ip			)
	),

	TP_fast_assign(
		/* Use the PID of @p, because current is still the previous task. */
		__entry->ent.pid	= p->pid;
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->tgid		= p->tgid;
		__entry->user_ip	= user_ip;
	),

	TP_printk("comm=%s pid=%d tgid=%d user_ip=0x%lx",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->user_ip)
);

#endif /* _TRACE_BTS_H */

/* This part must be outside of the include guard. */
#include <trace/define_trace.h>
