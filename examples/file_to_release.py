"""A file becomes a release: read, search, choose, publish, verify."""

import os
import tempfile
from pathlib import Path

import crypsis

folder = Path(tempfile.mkdtemp())
os.environ.setdefault("CRYPSIS_HOME", str(folder))  # the ledger of this example; leave it out for your own file
crypsis.write_table(crypsis.example(300), folder / "people.csv")  # your own file takes its place

people = crypsis.to_frame(crypsis.read_table(folder / "people.csv"))  # or read it with pandas or polars
for column in crypsis.profile(people).columns:  # a suggestion: a person decides
    print(f"{column.name}: {column.role}, {column.distinct} values")

run = crypsis.protect(
    people,
    quasi_identifiers=["age", "sex", "district", "education", "marital", "occupation", "hours"],
    confidential=["income", "diagnosis"],
    identifiers=["person"],
    k=5,
    budget="3s",
)
print(run.front)

chosen = run.choose("faithful")  # the least loss of all solutions that keep every demand
reason = "invented people: nobody knows them"  # why nobody outside knows it; stands in the report to sign
run.release(chosen, folder / "release", waivers={"singling-out:income": reason, "singling-out:diagnosis": reason})
print(crypsis.verify(folder / "release").word)  # sound
print(*sorted(path.name for path in (folder / "release" / "public").iterdir()), sep="\n")
