"""Things that may exist once."""

from __future__ import annotations

from typing import NoReturn


class Once:
    """Refuses to be copied: a second one would release the same events again, and nobody would add up what both cost."""

    __slots__ = ()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: its events, its noise and its budget exist once. "
            "Send releases to other processes, or panes from one Store to another"
        )

    def __reduce__(self) -> NoReturn:
        self._refuse()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._refuse()

    def __copy__(self) -> NoReturn:
        self._refuse()

    def __deepcopy__(self, memo: object) -> NoReturn:
        self._refuse()

    def __getstate__(self) -> NoReturn:
        self._refuse()
