// SPDX-License-Identifier: GPL-2.0
/*
 * Send SIGIO to readers of trace_pipe and trace_pipe_raw (O_ASYNC, F_SETOWN, F_SETSIG)
 *
 * A signal is sent when poll() would report that the ring buffer is filled to buffer_percent. A
 * signal is also sent when a snapshot swaps the buffers, although there may be nothing to read.
 * After a signal, no further signal is sent until the reader has read. If the ring buffer is then
 * still filled to buffer_percent, the next signal is sent immediately. Otherwise, the next signal
 * is sent when new entries have filled the ring buffer to buffer_percent. Without these rules, each
 * signal could add entries to the trace, and these entries could cause the next signal, endlessly.
 *
 *	fcntl(F_SETFL, O_ASYNC) -> trace_sigio_set() -\
 *	a read -> trace_sigio_arm() -------------------+-> ready? -> SIGIO
 *	                                               |     \-> wait queue of poll()
 *	ring buffer -> irq_work -> trace_sigio_wake() -/
 *
 * Concurrency:
 *
 *	- trace_sigio_mutex protects @head. The mutex is also held to change @buffer, @queue, and
 *	  the iterator's pointer to struct trace_sigio.
 *	- Readers and trace_sigio_wake() write @sent. If a reader clears @sent while
 *	  trace_sigio_wake() sends a signal, the reader may get an extra signal, but never
 *	  misses a signal.
 */

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>

#include "trace.h"

/**
 * struct trace_sigio - a reader that has requested SIGIO
 * @iter:	the reader's iterator
 * @buffer:	the ring buffer that was live at the last call of trace_sigio_arm()
 * @queue:	the processes that get the signal
 * @sent:	a signal has been sent, and the reader has not read since then
 * @wait:	an entry in the wait queue on which poll() would sleep
 * @head:	the wait queue that contains @wait, or NULL
 * @table:	the table with which ring_buffer_poll_wait() adds @wait to the wait queue
 */
struct trace_sigio {
	struct trace_iterator	*iter;
	struct trace_buffer	*buffer;
	struct fasync_struct	*queue;
	bool			sent;
	wait_queue_entry_t	wait;
	wait_queue_head_t	*head;
	poll_table		table;
};

static DEFINE_MUTEX(trace_sigio_mutex);

/*
 * Report whether the reader should read. If the result is false and @table is not NULL, the ring
 * buffer will call trace_sigio_wake() when an entry is written or a snapshot swaps the buffers.
 * After a swap, report true, because sigio->wait is still in the queue of the old buffer.
 */
static bool trace_sigio_ready(struct trace_sigio *sigio, poll_table *table)
{
	struct trace_iterator *iter = sigio->iter;
	struct trace_buffer *buffer = READ_ONCE(sigio->buffer);

	if (ring_buffer_poll_wait(buffer, iter->cpu_file, NULL, table,
				  iter->tr->buffer_percent) & EPOLLIN)
		return true;
	/*
	 * Pairs with the wake-up in update_max_tr(): either the wake-up finds @wait in the
	 * queue, or this function finds that the live buffer has changed.
	 */
	smp_mb();
	return buffer != READ_ONCE(iter->array_buffer->buffer);
}

/* The ring buffer's irq_work calls this function for @wait. There may be nothing to read. */
static int trace_sigio_wake(wait_queue_entry_t *wait, unsigned int mode, int sync,
			    void *key)
{
	struct trace_sigio *sigio = container_of(wait, struct trace_sigio, wait);

	if (xchg(&sigio->sent, true))
		return 0;
	if (trace_sigio_ready(sigio, NULL))
		kill_fasync(&sigio->queue, SIGIO, POLL_IN);
	else
		WRITE_ONCE(sigio->sent, false);
	return 0;
}

static void trace_sigio_unhook(struct trace_sigio *sigio)
{
	if (sigio->head)
		remove_wait_queue(sigio->head, &sigio->wait);
	sigio->head = NULL;
}

/*
 * Move @wait to @head, the wait queue on which poll() would sleep. After a snapshot or a change
 * of buffer_percent, poll() may use another wait queue.
 */
static void trace_sigio_hook(struct file *filp, wait_queue_head_t *head,
			     poll_table *table)
{
	struct trace_sigio *sigio = container_of(table, struct trace_sigio, table);

	if (sigio->head == head)
		return;
	trace_sigio_unhook(sigio);
	sigio->head = head;
	add_wait_queue(head, &sigio->wait);
}

/**
 * trace_sigio_arm - allow the next signal, after the reader has read data or found none
 * @iter: the reader's iterator
 *
 * Context: Process context.
 */
void trace_sigio_arm(struct trace_iterator *iter)
{
	struct trace_sigio *sigio = READ_ONCE(iter->sigio);

	if (!sigio)
		return;

	guard(mutex)(&trace_sigio_mutex);

	if (!sigio->queue)
		return;
	WRITE_ONCE(sigio->buffer, READ_ONCE(iter->array_buffer->buffer));
	xchg(&sigio->sent, false);
	if (trace_sigio_ready(sigio, &sigio->table) && !xchg(&sigio->sent, true))
		kill_fasync(&sigio->queue, SIGIO, POLL_IN);
}

static struct trace_sigio *trace_sigio_alloc(struct trace_iterator *iter)
{
	struct trace_sigio *sigio = kzalloc(sizeof(*sigio), GFP_KERNEL);

	if (!sigio)
		return NULL;
	sigio->iter = iter;
	init_waitqueue_func_entry(&sigio->wait, trace_sigio_wake);
	init_poll_funcptr(&sigio->table, trace_sigio_hook);
	return sigio;
}

/**
 * trace_sigio_set - the fasync() of trace_pipe and trace_pipe_raw
 * @iter:	the reader's iterator; the file's release() frees the memory allocated here
 * @fd:		the file descriptor
 * @filp:	the open file
 * @on:		nonzero to switch O_ASYNC on; 0 to switch O_ASYNC off
 *
 * Context: Process context.
 * Return: the same as fasync_helper(), or -ENOMEM.
 */
int trace_sigio_set(struct trace_iterator *iter, int fd, struct file *filp, int on)
{
	int ret;

	scoped_guard(mutex, &trace_sigio_mutex) {
		if (!iter->sigio)
			WRITE_ONCE(iter->sigio, trace_sigio_alloc(iter));
		if (!iter->sigio)
			return -ENOMEM;
		ret = fasync_helper(fd, filp, on, &iter->sigio->queue);
		if (!iter->sigio->queue)
			trace_sigio_unhook(iter->sigio);
	}
	if (ret > 0 && on)
		trace_sigio_arm(iter);
	return ret;
}
