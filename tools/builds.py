"""Builds of commits, or of checkouts with uncommitted changes, beside each other."""

import io
import os
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()

Sources = dict[str, bytes]


def sources(origin: str) -> Sources:
    """The files of a commit, or of a checkout with its uncommitted changes."""
    if Path(origin).is_dir():
        return of_checkout(Path(origin))
    archive = git(ROOT, "archive", origin)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


def of_checkout(folder: Path) -> Sources:
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = [name for name in listed.decode().split("\0") if (folder / name).is_file()]
    return {name: (folder / name).read_bytes() for name in names}


def git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, cwd=folder, stdout=subprocess.PIPE).stdout


def lay_out(files: Sources, folder: Path) -> None:
    """Makes the folder hold these files and no others. Unchanged files keep their times, so that
    cargo builds only what it has to."""
    for present in folder.rglob("*"):
        if present.is_file() and str(present.relative_to(folder)) not in files:
            present.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def build(folder: Path, *packages: str) -> Path:
    """Builds the release profile; returns the folder of the executables. Each checkout has its own target:
    in a shared one cargo takes two checkouts for the same packages and may not rebuild the older one."""
    target = folder.with_name(f"{folder.name}-target")
    chosen = [argument for package in packages for argument in ("-p", package)]
    command = ["cargo", "build", "--release", "--locked", "--quiet", *chosen]
    subprocess.run(command, check=True, cwd=folder, env=os.environ | {"CARGO_TARGET_DIR": str(target)})
    return target / "release"
