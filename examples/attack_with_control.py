"""An attack with a control: does the file give people away, or does it only teach about people in general?"""

import numpy as np

import crypsis

known = ["age", "sex", "district", "education", "hours"]
everybody = crypsis.example(1200).drop(["person", "occupation", "marital"])
order = np.random.default_rng(1).permutation(len(everybody))
inside, outside = everybody.take(order[:800]), everybody.take(order[800:])  # outside: nobody of them is released

rng = np.random.default_rng(2)
swapped = crypsis.RankSwapping(columns=("age", "hours"), percent=2.0).mask(inside, rng)
grouped = crypsis.Microaggregation(k=10).mask(inside, rng)

for name, masked in (("ranks swapped", swapped), ("groups of ten", grouped)):
    found = crypsis.attack(
        masked, inside, control=outside, intruder=crypsis.Intruder(knows=tuple(known)), rows_correspond=True
    )
    print(name)
    for each in found.outcomes:
        rates = f"{each.rate.value:.1f} % inside, {each.reference.value:.1f} % outside or without the file"
        print(f"  {each.attack}: {rates}, {each.verdict.value}")
