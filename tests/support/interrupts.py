"""Interrupts at a chosen moment: at a line of Python, or a number of seconds from now.

The collector of garbage rests meanwhile: it may run destructors of what earlier tests left, and
Python reports, but does not raise, an exception in a destructor.
"""

import gc
import signal
import sys
import time


class LineCount:
    """Count the lines of Python that run inside; raise KeyboardInterrupt at line `at`, if given.

    CPython answers a signal between two instructions of the main thread, so a line of any module
    is a moment at which Ctrl-C can arrive. Unlike a timer, a count is the same in every run.
    """

    def __init__(self, at=None):
        self.at, self.lines, self.fired, self.where = at, 0, None, None

    def __enter__(self):
        gc.disable()
        self.before = sys.gettrace()
        sys.settrace(self._traced)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)
        gc.enable()

    def _traced(self, frame, event, _):
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                self.fired = time.perf_counter()
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self._traced


class Timer:
    """SIGALRM raises KeyboardInterrupt, as Ctrl-C does, so many seconds from now."""

    def __init__(self, seconds):
        self.seconds, self.fired = seconds, None

    def __enter__(self):
        gc.disable()
        self.before = signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        gc.enable()

    def _interrupt(self, *_):
        self.fired = time.perf_counter()
        raise KeyboardInterrupt
