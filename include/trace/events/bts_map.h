/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This event shows that a task has created, moved or enlarged an executable mapping, or has made a
 * mapping executable. A tool needs the event to find the symbols of the mapped addresses. After
 * exec(), the event also shows the task's new name (comm), often long before the next bts_departs
 * shows it. If two mappings overlap, the shared addresses belong to the later mapping. See
 * Documentation/trace/bts-internals.rst.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bts

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bts_map

#if !defined(_TRACE_BTS_MAP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_BTS_MAP_H

#include <linux/bts_events.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

TRACE_EVENT(bts_map,

	TP_PROTO(struct task_struct *p, const struct bts_map *m),

	TP_ARGS(p, m),

	TP_STRUCT__entry(
		__array(	char,		comm,	TASK_COMM_LEN	)
		__field(	pid_t,		pid			)
		__field(	pid_t,		tgid			)
		__field(	u64,		addr			)
		__field(	u64,		len			)
		__field(	u64,		offset			)
		__field(	u64,		inode			)
		__field(	u32,		maj			)
		__field(	u32,		min			)
		__field(	u32,		build_id_size		)
		__array(	u8,		build_id, BUILD_ID_SIZE_MAX)
		__string(	path,		m->path			)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->tgid		= p->tgid;
		__entry->addr		= m->addr;
		__entry->len		= m->len;
		__entry->offset		= m->offset;
		__entry->inode		= m->ino;
		__entry->maj		= m->maj;
		__entry->min		= m->min;
		__entry->build_id_size	= m->build_id_size;
		memcpy(__entry->build_id, m->build_id, BUILD_ID_SIZE_MAX);
		__assign_str(path);
	),

	TP_printk("pid=%d tgid=%d addr=0x%llx len=0x%llx offset=0x%llx dev=%u:%u inode=%llu build_id=%s path=%s",
		  __entry->pid, __entry->tgid, __entry->addr, __entry->len,
		  __entry->offset, __entry->maj, __entry->min, __entry->inode,
		  __print_hex_str(__entry->build_id, __entry->build_id_size < BUILD_ID_SIZE_MAX ?
				  __entry->build_id_size : BUILD_ID_SIZE_MAX),
		  __get_str(path))
);

#endif /* _TRACE_BTS_MAP_H */

/* This part must be outside of the include guard. */
#include <trace/define_trace.h>
