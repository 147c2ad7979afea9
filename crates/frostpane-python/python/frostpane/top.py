"""A release in one call."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _internal
from ._columns import rows
from ._fields import Fields
from ._progress import Progress, told
from ._signature import with_fields
from .errors import OperatorWarning, ParameterError
from .release import Release
from .spec import Spec, written

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TOP = 10


@with_fields
def top(
    events: Any,
    spec: Spec | None = None,
    *,
    key: str | None = None,
    time: Any = None,
    user: Any = None,
    integers: bool = False,
    progress: Progress = None,
    **fields: Unpack[Fields],
) -> Release:
    """A private list of the most frequent keys, by default 10 of them, or as ``top``, ``alpha`` or ``all``
    say.

    ``events`` is whatever :meth:`HeavyHitters.update` takes; text is the name of a file, a folder or a pattern
    of names. Without ``until`` the window ends with the last event, which is public where the key of an event
    is what is protected. With ``user`` users are protected, nothing is read off the events, and ``until`` is
    required. Keys that are listed are text, and integers are their digits, unless ``integers`` or declared
    ``keys`` say otherwise.

    >>> release = top({"page": ["/", "/", "/about"] * 1_000}, key="page", top=2, epsilon=0.5)
    >>> [heavy.key for heavy in release], release.epsilon
    (['/', '/about'], 0.5)

    Files are read as the program reads them: CSV, TSV, JSON Lines, Parquet and text, compressed or not.

    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/visits.csv"
    >>> _ = open(file, "w").write("page,user\\n" + "/,u1\\n/about,u2\\n/,u3\\n" * 1_000)
    >>> [heavy.key for heavy in top(file, key="page", top=1)]
    ['/']
    """
    given: dict[str, Any] = dict(fields)
    if spec is None and not any(given.get(name) is not None for name in ("top", "alpha", "all", "norm")):
        given["top"] = _TOP
    if time is not None and spec is None and given.get("window") is None:
        raise ParameterError('events have times: say how far back to look, such as window="7d"')
    asked = written(spec, given, people=user is not None)
    if isinstance(Spec._of(asked).window, list):
        raise ParameterError("several windows are several releases, each at its epsilon: take HeavyHitters, and release each of them")
    taken = rows(Path(events) if isinstance(events, str) else events, key, time, user, asked)
    hitters = _internal.Hitters(_internal.ended(asked, taken), integers)
    hitters.update(taken, told(progress))
    release = Release(*hitters.release())
    hitters.close()
    for warning in release.warnings:
        warnings.warn(warning, OperatorWarning, stacklevel=2)
    return release
