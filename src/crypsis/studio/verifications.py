"""Verifications of releases, each made once for the files as they are: Home and the page of a release show them."""

from __future__ import annotations

import threading
from pathlib import Path

from crypsis.release import Verification, verify

MOST_KEPT = 100
"""Verifications that are kept; the oldest goes first."""

_known: dict[Path, tuple[tuple[str, ...], Verification]] = {}
_alone = threading.Lock()


def verify_once(folder: Path, again: bool = False) -> Verification:
    """The verification of a release; made anew if one of its files was written since, or if it is asked for again."""
    stamps = tuple(f"{path.name}.{(found := path.stat()).st_mtime_ns}.{found.st_size}" for path in _files(folder))
    known = _known.get(folder)
    if known is not None and known[0] == stamps and not again:
        return known[1]
    made = verify(folder)
    with _alone:
        _known.pop(folder, None)
        while len(_known) >= MOST_KEPT:
            del _known[next(iter(_known))]
        _known[folder] = (stamps, made)
    return made


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
