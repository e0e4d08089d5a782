# SPDX-License-Identifier: GPL-2.0-only
"""Read the traces of bts record(1) in Python, with libbts.so.0.

    import libbts

    with libbts.open("trace.dat", user=True) as trace:
        trace.run(call=lambda task, frame: print(task.pid, frame.depth * " ", frame.sym.name))

A trace can be read only once, by run() or counts(). run() calls the program's functions for each
branch, each row between branches, and each beginning and end of a call. A Task, Sym or Place is
valid until the trace is closed. libbts(3) and libbts.h explain each field.

If the environment variable LIBBTS contains the path of a library file, this file is used instead
of the system's libbts.so.0.
"""

import ctypes
import enum
import os
import sys
import threading
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_uint, c_uint32, \
    c_uint64, c_void_p


class Error(Exception):
    """A failure of libbts. errno is the error number; the text is "what: file: reason"."""

    def __init__(self, text, errno):
        super().__init__(text)
        self.errno = errno


class Kind(enum.IntEnum):
    """Kinds of branches: enum bts_kind."""

    UNKNOWN, COND, JUMP, JUMP_IND, CALL, CALL_IND, RET, SYSCALL, SYSRET, IRET, \
        INTERRUPT, FAR, EXIT = range(13)


class RowType(enum.IntEnum):
    """Types of rows that are not branches: enum bts_row_type."""

    LOST, GAP, DEPARTS, ARRIVES, MAP, EVENT, SIGNAL, SIGRETURN = range(8)


class FrameKind(enum.IntEnum):
    """How a function was entered: enum bts_frame_kind."""

    ROOT, CALL, TAIL, SYSCALL, INTERRUPT, SIGNAL, GUESS, INLINED = range(8)


# Flags of a branch.
GAP, NO_CODE, HEAD, END = 1, 2, 4, 8


class _Handle:
    """A pointer to an object of libbts. Handles with the same pointer are equal."""

    def __init__(self, pointer):
        self._as_parameter_ = c_void_p(pointer)
        self._pointer = pointer

    def __eq__(self, other):
        return type(other) is type(self) and self._pointer == other._pointer

    def __hash__(self):
        return hash(self._pointer)


class Sym(_Handle):
    """A function. All Sym objects of the same function are equal."""

    def __repr__(self):
        return f"<{self.name} of {self.object}>"

    @property
    def name(self):
        return os.fsdecode(_lib.bts_sym_name(self))

    @property
    def linked(self):
        return os.fsdecode(_lib.bts_sym_linked(self))

    @property
    def object(self):
        return os.fsdecode(_lib.bts_sym_object(self))

    @property
    def path(self):
        return os.fsdecode(_lib.bts_sym_path(self))

    @property
    def addr(self):
        return _lib.bts_sym_addr(self)

    def matches(self, name):
        """Report whether one of the function's names is `name`, or matches the pattern `name`."""
        return _lib.bts_sym_is(self, os.fsencode(name))


class Place(ctypes.Structure):
    """An address and its function."""

    _fields_ = [("addr", c_uint64), ("object_addr", c_uint64), ("_sym", c_void_p)]

    @property
    def sym(self):
        return Sym(self._sym)

    def __str__(self):
        size = _lib.bts_place_text(byref(self), None, 0) + 1
        text = ctypes.create_string_buffer(size)
        _lib.bts_place_text(byref(self), text, size)
        return os.fsdecode(text.value)


class Branch(ctypes.Structure):
    """A branch, and the code that ran between the previous branch and this branch."""

    _fields_ = [("time", c_uint64), ("start", Place), ("from_", Place), ("to", Place),
                ("_kind", c_int), ("flags", c_uint), ("insns", c_uint32),
                ("count", c_uint64), ("_user", c_void_p)]

    @property
    def kind(self):
        return Kind(self._kind)

    def __str__(self):
        word = os.fsdecode(_lib.bts_kind_name(self._kind))
        return f"{self.from_} -> {self.to}  {word}"


class Row(ctypes.Structure):
    """A row that is not a branch."""

    _fields_ = [("_type", c_int), ("cpu", c_int), ("time", c_uint64), ("count", c_uint64),
                ("ended", c_bool), ("_text", c_char_p)]

    @property
    def type(self):
        return RowType(self._type)

    def __str__(self):
        return os.fsdecode(self._text)


class Frame(ctypes.Structure):
    """A call."""

    _fields_ = [("_sym", c_void_p), ("_kind", c_int), ("depth", c_uint), ("stack", c_uint),
                ("time", c_uint64), ("ret", c_uint64), ("insns", c_uint64),
                ("branches", c_uint64), ("unfinished", c_bool), ("_user", c_void_p)]

    @property
    def sym(self):
        return Sym(self._sym)

    @property
    def kind(self):
        return FrameKind(self._kind)


class Totals(ctypes.Structure):
    """The totals of a trace, including its losses."""

    _fields_ = [(name, c_uint64) for name in (
        "branches", "tasks", "switches", "lost", "losses", "gaps", "no_code", "guessed")]


class Task(_Handle):
    """A task of a trace."""

    def __init__(self, trace, pointer):
        super().__init__(pointer)
        self.trace = trace

    def __repr__(self):
        return f"<{self.comm}-{self.pid}>"

    @property
    def pid(self):
        return _lib.bts_task_pid(self)

    @property
    def tgid(self):
        return _lib.bts_task_tgid(self)

    @property
    def comm(self):
        return os.fsdecode(_lib.bts_task_comm(self))

    @property
    def cpu(self):
        return _lib.bts_task_cpu(self)

    @property
    def branches(self):
        return _lib.bts_task_branches(self)

    def find(self, addr):
        """Return the Place at an address in the current mappings of the task."""
        place = Place()
        _lib.bts_find(self.trace, self, addr, byref(place))
        return place

    def stack(self):
        """Return the functions on the stack, outermost first; [] if calls are not followed."""
        return [_lib.bts_frame(self.trace, self, depth).contents.sym
                for depth in range(_lib.bts_depth(self))]


_BRANCH_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Branch))
_ROW_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Row))
_FRAME_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Frame))
_TOTAL_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Branch))

_STOP = 1


def _copy(pointer):
    """Copy a structure of the library, because the library reuses the structure's memory."""
    what = pointer.contents
    copy = type(what).from_buffer_copy(what)
    if isinstance(what, Row):
        copy._text = what._text
    return copy


class Trace:
    """An open trace, created by open()."""

    def __init__(self, path):
        trace = c_void_p()
        status = _lib.bts_open(byref(trace), os.fsencode(path))
        self._pointer = trace
        self._raised = None
        if status:
            error = self._error(status)
            self.close()
            raise error

    @property
    def _as_parameter_(self):
        if not self._pointer:
            raise ValueError("the trace is closed")
        return self._pointer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the trace. All Task and Sym objects of the trace become invalid."""
        _lib.bts_close(self._pointer)
        self._pointer = c_void_p()

    def _error(self, status):
        text = _lib.bts_error(self._pointer)
        return Error(os.fsdecode(text) if text else os.strerror(-status), -status)

    def _check(self, status):
        if status < 0:
            raise self._error(status)

    def set(self, name, value=None):
        """Set a filter, as bts_set() does."""
        self._check(_lib.bts_set(self, name.encode(),
                                 None if value is None else os.fsencode(str(value))))

    def _call(self, function, *args):
        """Call function. If function raises an exception, store the exception and end the run."""
        if self._raised:
            return _STOP
        try:
            return _STOP if function(*args) is False else 0
        except BaseException as error:
            self._raised = error
            return _STOP

    def _task_fn(self, type_, function):
        if function is None:
            return type_()
        return type_(lambda _, task, what: self._call(
            function, Task(self, task) if task else None, _copy(what)))

    def run(self, branch=None, row=None, call=None, ret=None):
        """Read the trace. Each callback gets a Task and one other object: a Branch, a Row or a
        Frame. If a row concerns only a CPU, the task is None. The run ends when a callback returns
        False."""
        functions = [self._task_fn(_BRANCH_FN, branch), self._task_fn(_ROW_FN, row),
                     self._task_fn(_FRAME_FN, call), self._task_fn(_FRAME_FN, ret)]
        for setter, function in zip((_lib.bts_on_branch, _lib.bts_on_row, _lib.bts_on_call,
                                     _lib.bts_on_return), functions):
            setter(self, function)
        self._run()

    def counts(self, function):
        """Read the trace, and call `function` for each different Branch. Branch.count is the
        total number of executions (see bts_on_total()). counts() is much faster than run(). If
        `function` raises an exception, counts() raises this exception at the end of the run."""
        total = _TOTAL_FN(lambda _, what: self._call(function, _copy(what)))
        _lib.bts_on_total(self, total)
        self._run()

    def _run(self):
        thread, hook = threading.get_ident(), sys.unraisablehook

        # If Ctrl-C raises KeyboardInterrupt before _call() can catch it, ctypes calls this hook.
        def unraisable(what):
            if threading.get_ident() != thread:
                hook(what)
            elif not self._raised:
                self._raised = what.exc_value

        sys.unraisablehook = unraisable
        try:
            status = _lib.bts_run(self, None)
        finally:
            sys.unraisablehook = hook
        raised, self._raised = self._raised, None
        if raised:
            raise raised
        self._check(status)

    def tasks(self):
        """Return a list of the tasks that occur before the current position in the trace."""
        tasks = []
        pointer = _lib.bts_next_task(self, None)
        while pointer:
            tasks.append(Task(self, pointer))
            pointer = _lib.bts_next_task(self, pointer)
        return tasks

    def line(self, place):
        """Return the source file and the line of a place, or None if they are unknown."""
        path, line = c_char_p(), c_uint()
        if _lib.bts_line(self, byref(place), byref(path), byref(line)):
            return None
        return os.fsdecode(path.value), line.value

    def inlined(self, place):
        """Return the functions that are inlined at a place, outermost first."""
        syms = []
        while pointer := _lib.bts_inlined(self, byref(place), len(syms)):
            syms.append(Sym(pointer))
        return syms

    @property
    def totals(self):
        return _copy(_lib.bts_totals(self))

    @property
    def bill(self):
        """The summary of the trace, as bts report(1) prints it at the end."""
        return os.fsdecode(_lib.bts_bill(self, False) or b"")


def open(path, **filters):
    """Open a trace, and set the filters of bts_set(): open(path, pid=42, user=True)."""
    trace = Trace(path)
    try:
        for name, value in filters.items():
            # Callers use from_, because "from" is a keyword.
            name = name.rstrip("_")
            if name in ("user", "kernel", "inline"):
                if value:
                    trace.set(name)
            else:
                trace.set(name, value)
    except Error:
        trace.close()
        raise
    return trace


def _load():
    lib = ctypes.CDLL(os.environ.get("LIBBTS", "libbts.so.0"))
    for names, result, arguments in (
            ("open", c_int, (POINTER(c_void_p), c_char_p)),
            ("close", None, (c_void_p,)),
            ("set", c_int, (c_void_p, c_char_p, c_char_p)),
            ("on_branch", None, (c_void_p, _BRANCH_FN)),
            ("on_row", None, (c_void_p, _ROW_FN)),
            ("on_call on_return", None, (c_void_p, _FRAME_FN)),
            ("on_total", None, (c_void_p, _TOTAL_FN)),
            ("run", c_int, (c_void_p, c_void_p)),
            ("totals", POINTER(Totals), (c_void_p,)),
            ("bill", c_char_p, (c_void_p, c_bool)),
            ("next_task", c_void_p, (c_void_p, c_void_p)),
            ("task_pid task_tgid task_cpu", c_int, (c_void_p,)),
            ("task_branches sym_addr", c_uint64, (c_void_p,)),
            ("task_comm sym_name sym_linked sym_object sym_path error", c_char_p, (c_void_p,)),
            ("find", None, (c_void_p, c_void_p, c_uint64, POINTER(Place))),
            ("place_text", c_size_t, (POINTER(Place), c_char_p, c_size_t)),
            ("line", c_int, (c_void_p, POINTER(Place), POINTER(c_char_p), POINTER(c_uint))),
            ("inlined", c_void_p, (c_void_p, POINTER(Place), c_uint)),
            ("kind_name", c_char_p, (c_int,)),
            ("sym_is", c_bool, (c_void_p, c_char_p)),
            ("depth", c_uint, (c_void_p,)),
            ("frame", POINTER(Frame), (c_void_p, c_void_p, c_uint))):
        for name in names.split():
            function = getattr(lib, "bts_" + name)
            function.restype = result
            function.argtypes = arguments
    return lib


_lib = _load()
