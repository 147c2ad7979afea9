"""The installed package: its names, its size, and names that it must not contain."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import frostpane
from conftest import ROOT
from frostpane import _internal

SPEC_FIELDS = set(frostpane.Spec().to_dict()) | {"top", "all", "slide", "until", "continual", "releases", "budget", "horizon", "together"}


def test_nothing_in_it_makes_noise_that_can_be_foreseen() -> None:
    """Test entropy is compiled into tests of the library alone: no Python name and no name in the binary
    refers to it."""
    names = {name for thing in vars(_internal).values() for name in [*dir(_internal), *dir(thing)]}
    assert not [name for name in names if any(word in name.lower() for word in ("seed", "insecure", "entropy", "noiseless"))]
    binary = Path(str(_internal.__file__)).read_bytes()
    for symbol in (b"InsecureSeededEntropy", b"with_insecure_seed", b"with_keys_of_others", b"ClockFromData", b"FROSTPANE_"):
        assert symbol not in binary, symbol
    assert b"OsEntropy" in binary or b"getrandom" in binary, "names are not stripped, so that this test could fail"


def test_it_is_built_without_what_tests_of_the_library_are_built_with() -> None:
    command = ["cargo", "tree", "--locked", "-p", "frostpane-python", "-e", "features,no-dev", "--manifest-path", str(ROOT / "Cargo.toml")]
    tree = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "frostpane v" in tree and "pyo3 feature" in tree
    assert not [line for line in tree.splitlines() if "frostpane" in line and any(word in line for word in ("internals", "testing", "mutants"))]


def test_importing_it_imports_nothing_else_that_is_large() -> None:
    script = (
        "import sys, frostpane; print(*[name for name in ('numpy', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'asyncio') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.strip() == ""


def test_signatures_show_every_field() -> None:
    for function in (
        frostpane.HeavyHitters,
        frostpane.Watch,
        frostpane.Store.create,
        frostpane.top,
        frostpane.watch,
        frostpane.plan,
        frostpane.explain,
    ):
        shown = inspect.signature(function).parameters
        assert {"window", "epsilon", "per_user", "confidence"} <= set(shown), function


def test_keywords_are_the_fields_of_a_specification() -> None:
    people = {"per_user", "per_key", "epoch", "offset", "sample_users"}
    keywords = set(frostpane.Fields.__annotations__)
    assert SPEC_FIELDS - {"version"} <= keywords
    assert keywords - people - SPEC_FIELDS == {"entries", "sketch"}


def test_everything_that_is_named_is_there_and_documented() -> None:
    for name in frostpane.__all__:
        thing = getattr(frostpane, name)
        assert name == "__version__" or inspect.getdoc(thing), name
    assert Path(inspect.getfile(frostpane)).with_name("py.typed").exists()


def test_specifications_go_through_toml_and_dicts() -> None:
    spec = frostpane.Spec(window=["1d", "7d"], top=5, per_user=3, epoch="1h", keys=["a", "b"], budget=3, until="2026-01-01")
    assert frostpane.Spec.from_toml(spec.to_toml()) == spec == frostpane.Spec.from_dict(spec.to_dict())
    assert spec.replace(top=None).top is None and spec.replace(per_key=2).unit["user"]["per_key"] == 2  # type: ignore[index]
    assert eval(repr(spec), {"Spec": frostpane.Spec}) == spec
    assert len({spec, spec.replace()}) == 1
