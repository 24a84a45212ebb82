"""Where a registered thing is found: run beside a copy of the source to which things were added.

python tests/contributed.py FOLDER → JSON: place → everything that is named there. FOLDER is empty and may be written.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import crypsis
from crypsis.masking import methods
from crypsis.measures import measures
from crypsis.plan.document import schema
from crypsis.plan.draft import draft
from crypsis.privacy import models
from crypsis.searches import searches
from crypsis.studio.pages.goal import _goal
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table import example, profile, read_table, write_table

ROOT = Path(__file__).resolve().parents[1]


def places(folder: Path) -> dict[str, str]:
    """Place → the text in which names are looked for."""
    source = folder / "people.csv"
    write_table(example(60), source)
    table = read_table(source)
    session = Session(source, folder / "plan.toml")
    session.reading.wait()
    sys.path.insert(0, str(ROOT / "docs"))
    pages = folder / "reference"
    import_module("registered").write_registered(pages)
    registries = (methods, measures, models, searches)
    return {
        "registry": json.dumps([name for registry in registries for name in registry]),
        "public": json.dumps([n for r in registries for n in r if getattr(crypsis, r[n].__name__) is r[n]]),
        "schema": json.dumps(schema()),
        "draft": draft(source, folder / "draft.toml", table, profile(table), 5),
        "studio": Studio(folder, session).render("goal_form.html", goal=_goal(session)),
        "reference": "\n".join(page.stem for page in pages.glob("*/*.md")),
        "overview": "\n".join(page.read_text(encoding="utf-8") for page in pages.glob("*.md")),
    }


if __name__ == "__main__":
    json.dump(places(Path(sys.argv[1])), sys.stdout)
