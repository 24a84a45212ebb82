"""A gate in a pipeline: a file that is not safe stops it with exit code 1, and the log says why."""

import sys

import numpy as np

import crypsis

known = ("age", "sex", "district")
collected = crypsis.example(500).with_roles({"income": "other", "diagnosis": "confidential"})
groups = {k: crypsis.Microaggregation(columns=known, k=k).mask(collected, np.random.default_rng(1)) for k in (5, 20)}


def passes(table: crypsis.Table) -> bool:
    """Whether a table may go on: whether every record meets what is demanded."""
    demands = [crypsis.KAnonymity(k=5, quasi_identifiers=known), crypsis.LDiversity(l=2, quasi_identifiers=known)]
    verdicts = [demand.judge(table) for demand in demands]
    for verdict in verdicts:
        print(verdict)
    return all(verdict.holds for verdict in verdicts)


if __name__ == "__main__":
    steps = {"as collected": collected, **{f"groups of {k}": table for k, table in groups.items()}}
    answers = {name: passes(table) for name, table in steps.items()}
    for name, answer in answers.items():
        print(f"{name}: {'passes' if answer else 'stopped'}")
    sys.exit(0 if answers["groups of 20"] else 1)
