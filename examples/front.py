"""A front: what protection costs, and what a solution does to the file."""

import crypsis

people = crypsis.to_frame(crypsis.example(300).drop(["person"]))
known = ["age", "sex", "district", "education", "marital", "occupation", "hours"]
run = crypsis.protect(
    people,
    quasi_identifiers=known,
    confidential=["income", "diagnosis"],
    k=3,
    search="composite",
    budget="6 generations",
    seed=1,
)

for solution in run.front:  # least loss first; every one keeps what was demanded
    print(f"no. {solution.number}: loss {solution.figure('loss'):.1f} %, risk {solution.figure('risk'):.1f} %")

for name in ("faithful", "balanced", "safest"):
    print(f"{name}: no. {run.choose(name).number}")

chosen = run.choose("best where risk < 20")
masked = run.decode(chosen)
print(crypsis.KAnonymity(k=3).judge(masked))  # holds, or does not hold: for how many records
card = crypsis.utility_card(run.original, masked, general=())
print(f"{card.analyses.kept:.0f} of {card.analyses.analyses} analyses drawn at random keep their answer")
