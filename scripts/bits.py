"""Digests of a small run and of its release: the same on every machine that keeps the promise of same seed, same bits.

python scripts/bits.py FOLDER ENGINE    FOLDER must not exist; ENGINE: serial, threads or processes
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from crypsis.engines import engine
from crypsis.plan import Plan
from crypsis.run import Run
from crypsis.table.example import example
from crypsis.table.files import write_table

PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
sex = { role = "quasi", hierarchy = "merge:1" }
income = { role = "confidential", because = "invented people" }
diagnosis = { role = "confidential", because = "invented people" }
district = { role = "other", because = "invented people" }
education = { role = "other", because = "invented people" }
marital = { role = "other", because = "invented people" }
occupation = { role = "other", because = "invented people" }
[[require]]
model = "k-anonymity"
k = 3
[[search]]
name = "memetic"
k = 3
[[search]]
name = "gomm"
k = 3
population = 20
missing = "mean"
[[search]]
name = "pbg-ea"
[[search]]
name = "local-recoding"
k = 3
[[waive]]
finding = "singling-out"
column = "income"
because = "invented amounts"
[run]
budget = "4 generations"
"""


def digests(folder: Path, name: str) -> tuple[str, str]:
    """Of every solution to the last bit, and of the released records."""
    folder.mkdir()
    write_table(example(200, seed=4), folder / "people.csv")
    (folder / "plan.toml").write_text(PLAN)
    found = hashlib.sha256()
    with engine(name, 2) as place:
        run = Run.start(Plan.read(folder / "plan.toml"), folder / "run", place, home=folder, seed=11)
        for _ in run.proceed():
            pass
        for number, _, _ in run.store.contents():
            row = run.store.solution(number)
            found.update(repr((row.id, row.search, row.key)).encode() + row.genome.tobytes())
            found.update(json.dumps(dict(row.content), sort_keys=True).encode())
        run.release(folder=folder / "release")
        run.close()
    data = sorted((folder / "release" / "public" / "data.csv").read_text().splitlines())  # rows are shuffled
    return found.hexdigest()[:16], hashlib.sha256("\n".join(data).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.stdout.write(" ".join(digests(Path(sys.argv[1]), sys.argv[2])) + "\n")
