"""Signatures that list the fields of a specification, for notebooks."""

from __future__ import annotations

import inspect
from typing import Any, Callable, TypeVar

from ._fields import Fields

_Function = TypeVar("_Function", bound=Callable[..., Any])


def with_fields(function: _Function) -> _Function:
    """Gives a function a signature with the fields in place of ``**fields``."""
    signature = inspect.signature(function)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    named = {parameter.name for parameter in own}
    fields = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in Fields.__annotations__.items()
        if name not in named
    ]
    function.__signature__ = signature.replace(parameters=own + fields)  # type: ignore[attr-defined]
    return function
