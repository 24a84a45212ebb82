"""The page that lists what Crypsis stands on names everything it asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_dependency_is_listed_with_its_licence() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w.-]+) \| [^|]+ \| ([^|]+) \|", page, re.MULTILINE))
    for line in asked:
        name = re.match(r"[\w.-]+", line)[0].lower()
        assert rows.get(name, "?").strip() not in ("?", ""), f"{name}: run scripts/licences and renew the page"
