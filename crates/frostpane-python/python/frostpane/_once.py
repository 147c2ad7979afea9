"""Objects that must not be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class Once:
    """Refuses to be copied: a copy would release the same events again, and the cost of both would not be
    added up."""

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


class Closing(Once):
    """A context manager that closes the object."""

    __slots__ = ()

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
