"""Progress of a long call."""

from __future__ import annotations

import sys
import time
from typing import Callable, Union

Progress = Union[bool, Callable[[int, int], object], None]
"""A receiver of progress: called with the number of events so far, and of all. ``True`` shows it on
standard error, ``None`` only if that is a terminal, ``False`` never."""

_PATIENCE = 1.0


def told(progress: Progress) -> Callable[[int, int], object] | None:
    if callable(progress):
        return progress
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    return _Line() if progress else None


class _Line:
    """A line on the terminal, once a call has taken a while."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.since < _PATIENCE:
            return
        if done < total:
            sys.stderr.write(f"\rfrostpane: {done:,} of {total:,} events")
            self.shown = True
        elif self.shown:
            sys.stderr.write("\r" + " " * 60 + "\r")
            self.shown = False
        sys.stderr.flush()
