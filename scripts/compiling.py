"""Let every kernel of the usual commands compile: python scripts/compiling.py FOLDER, which is made and may be deleted.

Masks by every method that suits the example, a run over every search a draft offers, a release and its attacks: the
calls that users make, so that each kernel is compiled for the types it is called with.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

import crypsis
from crypsis.cli import main
from crypsis.errors import CrypsisError
from crypsis.measures.assess import assess
from crypsis.run.warm_up import warm_up


def command(*words: str) -> None:
    """Run a command as from a shell; its exit is no end of this program, nor is a demo without time for a release."""
    sys.argv = ["crypsis", *words]
    with suppress(SystemExit):
        main()


def work(folder: Path) -> None:
    """Call what users call, small and large enough that both ways through a method are taken."""
    folder.mkdir(parents=True)
    people = folder / "people.csv"
    crypsis.write_table(crypsis.example(1000, seed=1), people)
    quasi = "age,sex,district,education,marital,occupation,hours"
    command("mask", str(people), "microaggregation", "-q", quasi, "-o", str(folder / "masked.csv"), "--seed", "1")
    for _ in warm_up():
        pass
    rng, table = np.random.default_rng(1), crypsis.example(300, seed=1)
    for name in crypsis.methods:
        with suppress(CrypsisError):  # what does not suit the example compiles where it is used
            crypsis.methods.build(name).mask(table, rng)
    assess(table, crypsis.Pram().mask(table, rng))
    values = rng.standard_normal((6000, 3))
    for many in (200, 6000):
        crypsis.partition(values[:many], 5, method="mdav")
    crypsis.partition(values[:200], 5, steps=2, seed=1)
    command("demo", "--folder", str(folder / "demo"), "--seconds", "15")


if __name__ == "__main__":
    work(Path(sys.argv[1]))
