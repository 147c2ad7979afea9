"""Executes a notebook in its folder, and writes it with its outputs to another file: `notebook.py NOTEBOOK
RESULT`."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

LONGEST_CELL = 120


def main(notebook: str, result: str) -> None:
    cells = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(Path(notebook).parent)}}
    NotebookClient(cells, timeout=LONGEST_CELL, kernel_name="python3", resources=where).execute()
    nbformat.write(cells, result)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(*sys.argv[1:])
