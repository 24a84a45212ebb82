"""Pages of a release, rendered again from their JSON files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from crypsis.version import __version__

MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError)
"""What a manifest or report of another shape raises when it is read."""


def render_again(
    folder: Path, render: Callable[[Mapping[str, Any]], str], incomparable: list[str], problems: list[str], older: int
) -> None:
    """Render a page from its JSON file and compare it with the page in the folder.

    incomparable  gets a sentence if another version wrote the page; a problem unless a trusted key signed it
    """
    version: Any = __version__
    try:
        facts = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        version = facts["version"]
        same = render(facts) == (folder / "report.html").read_text(encoding="utf-8")
    except (OSError, UndefinedError, *MALFORMED):
        same = False
    if not same and (older or version != __version__):
        incomparable.append(
            f"{folder.name}/report.html was written by Crypsis {version} and this version, {__version__}, cannot "
            f"compare it with {folder.name}/report.json; verify with that version"
        )
    elif not same:
        problems.append(f"{folder.name}/report.html differs from {folder.name}/report.json")
