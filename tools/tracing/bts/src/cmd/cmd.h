/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declare the commands. A function cmd_NAME() receives "bts NAME" as argv[0], and returns the exit
 * status.
 *
 * Included by: bts.c, cmd/.
 */
#ifndef BTS_CMD_H
#define BTS_CMD_H

/* The exit statuses if bts record itself fails, as in env(1). */
enum {
	RECORD_FAILED		= 125,
	RECORD_NOT_EXECUTED	= 126,
	RECORD_NOT_FOUND	= 127,
};

/* The exit status if bts diff itself fails. Status 1 means that the runs differ. */
enum {
	DIFF_FAILED	= 3,
};

int cmd_check(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_cover(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_gdb(int argc, char **argv);
int cmd_tui(int argc, char **argv);
int cmd_archive(int argc, char **argv);

/*
 * complete.c: print one line for each option of a command: the option's name, argument and help.
 * If @option is not NULL, print only the kind of the argument that must follow @option.
 */
int complete_options(int (*run)(int argc, char **argv), const char *option);

#endif
