"""The Data page: what the file reveals, questions about columns, and role, kind and hierarchy of every column."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.audits.default_roles import assign_default_roles
from crypsis.errors import CrypsisError, TableError, listing
from crypsis.plan import Plan
from crypsis.studio.column_groups import (
    count_dropped_levels,
    groups_as_csv,
    import_groups,
    save_groups,
    value_counts,
    value_groups,
)
from crypsis.studio.column_values import find_rarest_people, value_bars
from crypsis.studio.columns import KEPT, decided_entry, follow_roles
from crypsis.studio.forms import Form, column_of_form, one
from crypsis.studio.pages.records import read_cells
from crypsis.studio.responses import answer, changes, refusal, routes_of, shows
from crypsis.studio.session import MOST_COLUMNS, USUAL_K, Session
from crypsis.studio.studio import Studio
from crypsis.studio.terms import masked_by_themselves
from crypsis.table.attribute import UNPUBLISHED, Kind, Role
from crypsis.table.builders import BUILDERS, build_hierarchy
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.frames import to_frame
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.profile import Clue, Reason, builder_profile_suggests, common_values, exposure_of
from crypsis.table.readers import readers
from crypsis.table.readers.notation import DATE_FORMS
from crypsis.table.role_questions import role_questions, separate
from crypsis.table.value_labels import label_codes
from crypsis.text import role_reason_text

SMALLEST_NAMED = 10
"""Groups of fewer records are counted and not named."""
MOST_ORDERED = 200
"""Largest number of values that can be ordered by hand."""


def grid(session: Session) -> dict[str, Any]:
    """One row per column: its entry in the plan, the suggestion with its reason, and counts."""
    seen = session.reading.profile
    rows: list[dict[str, Any]] = []
    if seen is not None and session.plan_path.exists():
        columns = session.document.get("columns", {})
        alone = _list_masked(session)
        rows = [
            {
                "name": each.name,
                "said": columns.get(each.name, {}),
                "shown": _row_text(columns.get(each.name, {})),
                "suggested": {"role": each.role, "kind": each.kind, "hierarchy": each.hierarchy},
                "label": session.reading.raw.attribute(each.name).label,
                "grouping": describe_hierarchy(str(columns.get(each.name, {}).get("hierarchy", ""))),
                "reason": role_reason_text(each.reasons),
                "masked": alone.get(each.name, ""),
                "distinct": each.distinct,
                "missing": each.missing,
                "rare": each.rare,
            }
            for each in seen.columns[:MOST_COLUMNS]
        ]
    undecided = [row["name"] for row in rows if row["said"].get("role", Role.UNDECIDED) == Role.UNDECIDED]
    return {"rows": rows, "roles": list(Role), "kinds": list(Kind), "undecided": undecided}


def _list_masked(session: Session) -> dict[str, str]:
    """How columns are masked by themselves; nothing is said while the plan cannot be read."""
    try:
        return masked_by_themselves(session.plan)
    except CrypsisError:
        return {}


def describe_hierarchy(spec: str) -> str:
    """The hierarchy of a column in words: what each level does.

    >>> describe_hierarchy("merge:8,1")
    '8 groups, then all in one group'
    """
    head, _, rest = spec.partition(":")
    steps = [step.strip() for step in rest.split(",") if step.strip()]
    if head not in BUILDERS or not steps:
        return "groups from a file" if spec else ""
    if head == "merge":
        return ", then ".join("all in one group" if step == "1" else f"{step} groups" for step in steps)
    words = {"intervals": "intervals of {}", "prefixes": "first {} characters", "dates": "by {}"}
    return words.get(head, "{}").format(", then ".join(steps))


def _row_text(said: Mapping[str, Any]) -> str:
    """What a row shows, as text: a change of a row that shows something else than the plan is refused."""
    return json.dumps(said, sort_keys=True, ensure_ascii=False)


def settle_columns_on_page(session: Session, columns: dict[str, Any]) -> list[str]:
    """Settle the undecided columns of a plan by the safest reading, in place; the names of those that were."""
    seen = session.reading.profile
    settled = []
    for each in assign_default_roles(seen, session.reading.raw).columns if seen is not None else ():
        said = columns.get(each.name, {})
        if said.get("role", Role.UNDECIDED) == Role.UNDECIDED and each.role != Role.UNDECIDED:
            made = {"role": each.role, "kind": said.get("kind", each.kind)}
            made |= {"label": said["label"]} if said.get("label") else {}
            if each.hierarchy and each.role == Role.QUASI_IDENTIFIER:
                made["hierarchy"] = said.get("hierarchy", each.hierarchy)
            columns[each.name] = made
            settled.append(each.name)
    return settled


def entry(form: Form, before: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a column in the plan, from its row of the grid; what other pages edit stays where it applies."""
    made: dict[str, Any] = {"role": one(form, "role", "undecided")}
    for key in ("kind", "hierarchy"):
        if one(form, key):
            made[key] = one(form, key)
    if made["role"] == Role.IDENTIFIER:
        made.pop("hierarchy", None)
    if label := one(form, "label", before.get("label", "")):
        made["label"] = label
    if before.get("order") and made.get("kind") == Kind.ORDINAL:
        made["order"] = before["order"]
    if before.get("labels") and made.get("kind") in (Kind.ORDINAL, Kind.NOMINAL):
        made["labels"] = before["labels"]
    kept = KEPT.get(Role(made["role"]), ()) if made["role"] in set(Role) else ()
    return made | {key: before[key] for key in kept if key in before}


def _in_words(made: Mapping[str, Any]) -> str:
    """Role, kind, hierarchy and meaning of a column in one line."""
    return ", ".join(str(made[key]) for key in ("role", "kind", "hierarchy", "label") if made.get(key))


@dataclass(frozen=True)
class BuilderOption:
    """A way to build a hierarchy: its name and label, what its argument is, and an example of one."""

    name: str
    label: str
    argument: str
    example: str


NUMBERS = (BuilderOption("intervals", "intervals of numbers", "widths, each dividing the next", "5,10,20"),)
DATES = (BuilderOption("dates", "parts of dates", "of day, month, quarter, year, decade", "month,quarter,year"),)
TEXTS = (
    BuilderOption("merge", "fewer groups at each level, rare values merged", "how many groups at each level", "8,4,2"),
    BuilderOption("prefixes", "first letters or digits", "characters kept at each level", "3,2,1"),
)
FILE = BuilderOption(
    "file", "a file with a line per value", "a file in the folder of the plan", "hierarchies/region.csv"
)


def _hierarchy_options_on_page(session: Session, name: str, spec: str, kind: str | None) -> dict[str, Any]:
    """Hierarchy on the Data page: the options that apply to a column, and name and argument of the one in use."""
    attribute = session.reading.column_as(name, kind).attribute(name)
    options = (*((DATES if attribute.dates else NUMBERS) if attribute.numeric else TEXTS), FILE)
    head, _, rest = spec.partition(":")
    if head not in {option.name for option in options}:
        head, rest = (FILE.name, spec) if spec and head not in BUILDERS else (options[0].name, options[0].example)
    return {"name": name, "options": options, "head": head, "rest": rest, "grouped": not attribute.numeric}


def _hierarchy_levels_on_page(session: Session, name: str, spec: str, kind: str | None) -> list[dict[str, Any]]:
    """Hierarchy on the Data page: group sizes of every level; small groups are counted, not named."""
    column, hierarchy = session.reading.column_as(name, kind), column_hierarchy(session, name, spec, kind)
    attribute = column.attribute(name).but(hierarchy=hierarchy)
    leaves = column.with_columns({}, attributes={name: attribute}).leaf_codes(name)
    return [_level(hierarchy, leaves, level) for level in range(hierarchy.height + 1)]


def column_hierarchy(session: Session, name: str, spec: str, kind: str | None) -> Hierarchy:
    """The hierarchy of a column as the plan will read it: its declared kind decides what its values are."""
    column = session.reading.column_as(name, kind)
    place = Plan._hierarchy(spec, session.home)
    if str(place).startswith("file:"):
        place = session.home / str(place).removeprefix("file:")
    if isinstance(place, Path) and not place.resolve().is_relative_to(session.home.resolve()):
        raise TableError(
            f"column {name!r}: a hierarchy file must be in the folder of the plan or below it; move it there"
        )
    return build_hierarchy(place, column.attribute(name), column.column(name))


def _fitting_hierarchy(session: Session, name: str, made: Mapping[str, Any]) -> tuple[str, str]:
    """The hierarchy of a column that still fits its kind, or the usual one for that kind; and what to say about it."""
    spec, kind = str(made["hierarchy"]), made.get("kind")
    try:
        column_hierarchy(session, name, spec, kind)
    except TableError:
        if kind == session.document.get("columns", {}).get(name, {}).get("kind"):
            raise  # it is the hierarchy that was changed
        spec = builder_profile_suggests(session.reading.column_as(name, kind), name)
        return spec, f" Its groups did not fit that kind and are now {spec}."
    return spec, ""


def _level(hierarchy: Hierarchy, leaves: NDArray[np.int32], level: int) -> dict[str, Any]:
    codes = hierarchy.lift(leaves, level)
    counts = np.bincount(codes[codes >= 0], minlength=len(hierarchy.labels[level]))
    used = np.flatnonzero(counts)
    common = [code for code in used[np.argsort(-counts[used], kind="stable")] if counts[code] >= SMALLEST_NAMED][:6]
    return {
        "level": level,
        "groups": len(used),
        "smallest": int(counts[used].min()) if len(used) else 0,
        "median": float(np.median(counts[used])) if len(used) else 0,
        "named": [(hierarchy.labels[level][code], int(counts[code])) for code in common],
        "small": int((counts[used] < SMALLEST_NAMED).sum()),
        "share": [float(100 * counts[code] / counts.max()) for code in common],
    }


def _order_values(session: Session, name: str) -> list[str]:
    """The values of an ordinal column from low to high: by the plan, the hierarchy or the alphabet."""
    said = session.document.get("columns", {}).get(name, {})
    attribute = session.reading.column_as(name, said.get("kind")).attribute(name)
    if attribute.numeric:
        raise TableError(f"column {name!r} is numeric and has an order already; choose an ordinal column")
    if len(attribute.categories) > MOST_ORDERED:
        raise TableError(
            f"column {name!r} holds {len(attribute.categories)} values, more than the {MOST_ORDERED} that can be "
            f"ordered here; write order = [...] for it in the plan"
        )
    given = said.get("order") or ()
    if not given and said.get("hierarchy"):
        given = column_hierarchy(session, name, said["hierarchy"], Kind.ORDINAL).labels[0]
    return [*dict.fromkeys([*given, *attribute.categories])]


def _put_in_order(session: Session, name: str, values: Sequence[str]) -> list[str]:
    """Write the order of a column into the plan; returns the problems of the plan."""
    with session.lock:
        document = session.document
        column = document.get("columns", {}).get(name, {})
        if column.get("kind") != Kind.ORDINAL:
            raise TableError(f"column {name!r} is not ordinal; give it that kind first")
        if sorted(values) != sorted(_order_values(session, name)):
            raise TableError(f"column {name!r}: its values have changed; open the order again")
        document["columns"][name] = {**column, "order": list(values)}
        return session.save(document)


# -- What the file reveals as it stands, and questions about columns that nobody decided about.

MOST_PEOPLE = 5
"""People who stand out most, shown on demand."""
MOST_RISKY = 6
"""Columns that are named by what they add to uniqueness."""


@dataclass(frozen=True)
class RiskyColumn:
    """A column, how many records it makes unique, and whether it is a quasi-identifier."""

    name: str
    adds: int
    share: float  # of all records, per cent
    quasi: bool


class _Exposed:
    """The exposure of the file under the roles of the plan, counted once for each set of roles."""

    def __init__(self) -> None:
        self._last: tuple[Any, dict[str, Any]] | None = None

    def __call__(self, session: Session) -> dict[str, Any]:
        if not session.reading.done or session.reading.problem:
            return {"exposed": None}
        roles = {name: str(c.get("role", Role.UNDECIDED)) for name, c in session.document.get("columns", {}).items()}
        try:
            k = max([model.least_class_size for model in session.plan.models()] or [USUAL_K])
            scenarios = session.plan.scenario
        except CrypsisError:
            k, scenarios = USUAL_K, ()
        raw = session.reading.raw
        key = (id(raw), tuple(roles.items()), k, tuple((each.name, each.knows) for each in scenarios))
        if self._last is None or self._last[0] != key:
            quasi = [name for name in raw.names if roles.get(name) == Role.QUASI_IDENTIFIER]
            others = [name for name in raw.names if name not in quasi and roles.get(name) not in set(UNPUBLISHED)]
            found = exposure_of(raw, quasi, others, k)
            risky = [
                RiskyColumn(n, a, 100 * a / max(found.rows, 1), n in quasi) for n, a in found.adds.items() if a > 0
            ]
            risky.sort(key=lambda each: (-each.adds, each.name))
            intruders = [
                (each.name, each.knows, int((equivalence_class_sizes(raw, each.knows) == 1).sum()))
                for each in scenarios
                if set(each.knows) <= set(raw.names)
            ]
            self._last = (key, {"exposed": found, "risky": risky[:MOST_RISKY], "intruders": intruders})
        return self._last[1]


ANSWERS = (
    ("q", Role.QUASI_IDENTIFIER, "others may know it", "a neighbour, an employer or another file: it is masked"),
    ("c", Role.CONFIDENTIAL, "must not be learnt", "and nobody outside knows it: protected by its class"),
    ("i", Role.IDENTIFIER, "names a person", "or reaches one: never released"),
    ("o", Role.OTHER, "neither", "harmless to everybody: released as it is"),
    ("w", Role.WEIGHT, "sampling weight", "released, and audited for what it gives away"),
    ("s", Role.STRATUM, "stratum of the sample", "released, and audited for what it gives away"),
    ("h", Role.HOUSEHOLD, "which records belong together", "a household or family: never released"),
)  # fmt: skip
"""Answers to the question what a column is: key, role, in words, and what follows from it."""
NOBODY = "answered on the Data page: nobody outside knows it"
"""Why nobody outside knows a column that was answered to be confidential."""


def _ask(session: Session, skip: int, each: bool) -> dict[str, Any]:
    """The question to show: about the undecided columns of the plan, alike ones together unless each is asked for."""
    seen = session.reading.profile
    if seen is None or not session.plan_path.exists():
        return {"question": None, "questions": 0}
    columns, raw = session.document.get("columns", {}), session.reading.raw
    roles = {c.name: Role(columns.get(c.name, {}).get("role", Role.UNDECIDED)) for c in seen.columns}
    if Role.UNDECIDED not in roles.values():
        return {"question": None, "questions": 0}
    decided = tuple(
        replace(c, role=roles[c.name].value, reasons=(Reason(OF_ROLE.get(roles[c.name], Clue.DECLARED)),))
        for c in seen.columns
    )
    now = replace(seen, columns=decided)
    found = role_questions(now, raw)
    if each:
        found = [one_ for question in found for one_ in separate(question, now, raw)]
    question = found[skip % len(found)]
    return {
        "question": question,
        "questions": len(found),
        "place": skip % len(found),
        "each": each,
        "values": common_values(raw, question.names[0]),
        "bars": value_bars(raw, question.names[0]),
        "records": len(raw),
        "answers": ANSWERS,
        "reasons": {c.name: role_reason_text(c.reasons) for c in seen.columns if c.name in question.names},
    }


OF_ROLE = {Role.UNDECIDED: Clue.UNDECIDED}


# -- How the file is read.


def _reading_fields(session: Session) -> dict[str, Any]:
    """The settings that a file of this type has, as given and as found out."""
    reader = readers.of(session.source)
    takes = reader.takes if reader is not None else frozenset[str]()
    given = session.document.get("data", {}) if session.plan_path.exists() else session.reading.settings
    done = session.reading.done and not session.reading.problem
    found = getattr(session.reading.raw.origin, "read_with", None) if done else None
    return {
        "takes": [name for name in READING if name in takes],
        "given": {name: _as_field(given.get(name)) for name in READING},
        "found": {name: _as_field(value) for name, value in (found.given() if found is not None else {}).items()},
        "forms": list(DATE_FORMS),
        "notes": list(session.reading.raw.notes) if done else [],
    }


READING = ("encoding", "delimiter", "decimal", "thousands", "dates", "missing", "sheet", "table", "query")


def _as_field(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value is None else str(value)


def _read_fields(form: Form) -> dict[str, Any]:
    """The settings that were filled in; an empty one is found out from the file."""
    found: dict[str, Any] = {name: one(form, name) for name in ("encoding", "sheet") if one(form, name)}
    for name in ("delimiter", "decimal", "thousands"):  # a space or a tab is a value
        text = (form.get(name) or ("",))[-1]
        if text:
            found[name] = "" if text == "none" else text
    if one(form, "dates"):
        found["dates"] = [one(form, "dates")]
    if one(form, "missing"):
        found["missing"] = [word.strip() for word in one(form, "missing").split(",") if word.strip()]
    if str(found.get("sheet", "")).isdigit():
        found["sheet"] = int(found["sheet"])
    return found


# -- The Data page: what the file reveals, questions, and role, kind and hierarchy of every column.

ROWS = 20
"""Number of raw rows that can be shown."""
MOST_REMEMBERED = 30
"""Decisions that can be undone."""


@dataclass(frozen=True)
class Decision:
    """A change of columns that can be undone: their entries before and after, and what was decided in words."""

    words: str
    before: Mapping[str, Any]  # the columns that were changed, and the maskings of the plan
    after: Mapping[str, Any]
    row: bool = False  # made in the row of one column

    @property
    def names(self) -> frozenset[str]:
        """The columns that were changed."""
        return frozenset(self.after["columns"])


def _join_decisions(new: Decision, earlier: Sequence[Decision]) -> list[Decision]:
    """Decisions with a new one; of two in a row that were made in the row of one column, one is left."""
    if not (new.row and earlier and earlier[0].row) or (earlier[0].names, earlier[0].after) != (new.names, new.before):
        return [new, *earlier]
    joined = replace(new, before=earlier[0].before)
    return [joined, *earlier[1:]] if joined.before != joined.after else list(earlier[1:])


FOLLOWING = ("mask", "rule")
"""Sections of a plan that follow the roles of columns."""


def _columns_and_maskings(document: Mapping[str, Any]) -> dict[str, Any]:
    kept = {section: list(document.get(section, ())) for section in FOLLOWING}
    return {"columns": dict(document.get("columns", {})), **kept}


class _DataPage:
    """What the file reveals, questions, the grid, its changes and previews."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.exposed = _Exposed()

    @property
    def decided(self) -> list[Decision]:
        """What can be undone, the last first; kept with the choices, so that a restart loses nothing."""
        return [Decision(**each) for each in self.studio.session.choices.decided]

    def _remember(self, decisions: Sequence[Decision]) -> None:
        self.studio.session.change(decided=[asdict(each) for each in decisions[:MOST_REMEMBERED]])

    def _content(self) -> dict[str, Any]:
        session = self.studio.session
        return {**grid(session), **self.exposed(session), **_reading_fields(session), "decided": self.decided}

    @shows("/data")
    def page(self, request: Request) -> Response:
        self.studio.session.reading.wait_briefly()
        return self.studio.page("data", lambda: {**self._content(), **_ask(self.studio.session, 0, False)})

    @shows("/data/grid")
    def rows(self, request: Request) -> Response:
        return self.studio.part("grid.html", **grid(self.studio.session))

    @shows("/data/reveals")
    def reveals(self, request: Request) -> Response:
        return self.studio.part("reveals.html", **self.exposed(self.studio.session))

    @shows("/data/questions")
    def question(self, request: Request) -> Response:
        skip, each = request.query_params.get("skip", "0"), request.query_params.get("each") == "yes"
        shown = _ask(self.studio.session, int(skip) if skip.isdigit() else 0, each)
        return self.studio.part("questions.html", **shown, decided=self.decided)

    def _change(
        self,
        changed: Mapping[str, Mapping[str, Any]],
        message: str,
        skip: int = 0,
        each: bool = False,
        row: bool = False,
    ) -> Response:
        """Write entries of columns into the plan, and show everything that depends on them."""
        session = self.studio.session
        with session.lock:
            document = session.document
            before = _columns_and_maskings(document)
            document.setdefault("columns", {}).update({name: dict(made) for name, made in changed.items()})
            follow_roles(document, changed)
            problems = session.save(document)
            if problems:
                return refusal(*problems)
            after = _columns_and_maskings(session.document)
            names = {n for n in after["columns"] if after["columns"][n] != before["columns"].get(n)}
            if names:
                for side in (before, after):
                    side["columns"] = {n: said for n, said in side["columns"].items() if n in names}
                self._remember(_join_decisions(Decision(message, before, after, row), self.decided))
        return self._show(message, skip, each)

    def _show(self, message: str, skip: int = 0, each: bool = False) -> Response:
        session, render = self.studio.session, self.studio.render
        parts = {
            "rows": render("grid.html", **grid(session)),
            "reveals": render("reveals.html", **self.exposed(session)),
            "questions": render("questions.html", **_ask(session, skip, each), decided=self.decided),
        }
        return answer(message, parts=parts, stamp=session.stamps()[0])

    @changes("/data/column")
    def column(self, request: Request, form: Form) -> Response:
        session, name = self.studio.session, column_of_form(self.studio.session, form)
        with session.lock:
            before = session.document.get("columns", {}).get(name, {})
            if "shown" in form and one(form, "shown") != _row_text(before):
                return refusal(
                    f"{name} was changed elsewhere and nothing is saved here: it is {_in_words(before)} now."
                )
            made, words = entry(form, before), ""
            if Role.QUASI_IDENTIFIER == made["role"] != before.get("role") and not made.get("hierarchy"):
                made["hierarchy"] = builder_profile_suggests(session.reading.column_as(name, made.get("kind")), name)
            if made.get("hierarchy"):
                made["hierarchy"], words = _fitting_hierarchy(session, name, made)
            elif made.get("kind") and made["kind"] != before.get("kind"):
                session.reading.column_as(name, made["kind"])  # refused if the values cannot be of that kind
            return self._change({name: made}, f"{name}: {_in_words(made)}.{words}", row=True)

    @changes("/data/answer")
    def answer_question(self, request: Request, form: Form) -> Response:
        """Give the columns of a question a role."""
        session, names = self.studio.session, list(form.get("column", ()))
        skip, each = one(form, "skip", "0"), one(form, "each") == "yes"
        role = next((role for _, role, _, _ in ANSWERS if role.value == one(form, "role")), None)
        open_ = [n for n, c in session.document.get("columns", {}).items() if c.get("role", "undecided") == "undecided"]
        if role is None or not names:
            raise TableError("choose one of the answers")
        late = [name for name in names if name not in open_]
        if late:
            return refusal(f"{listing(late)}: decided elsewhere since; nothing is saved here.")
        because = NOBODY if role is Role.CONFIDENTIAL else ""
        made = {name: decided_entry(session, name, role, because) for name in names}
        return self._change(made, f"{listing(names, most=40)}: {role.value}.", int(skip) if skip.isdigit() else 0, each)

    @changes("/data/undo")
    def undo(self, request: Request, form: Form) -> Response:
        """Take back a decision, unless its columns were changed since."""
        session, place = self.studio.session, one(form, "place", "0")
        with session.lock:
            if not place.isdigit() or int(place) >= len(self.decided):
                raise TableError("there is nothing to undo any more; load the page again")
            decision = self.decided[int(place)]
            document = session.document
            now = _columns_and_maskings(document)
            late = [n for n in decision.names if now["columns"].get(n) != decision.after["columns"][n]]
            if late:
                return refusal(f"{listing(late)}: changed since; undo the later change first.")
            old = {n: decision.before["columns"][n] for n in decision.names if n in decision.before["columns"]}
            document["columns"] = {n: old.get(n, said) for n, said in document["columns"].items()}
            for section in FOLLOWING:
                if now[section] == decision.after.get(section, ()) and decision.before.get(section):
                    document[section] = decision.before[section]
            follow_roles(document, decision.names)
            problems = session.save(document)
            if problems:
                return refusal(*problems)
            self._remember([each for at, each in enumerate(self.decided) if at != int(place)])
        return self._show(f"Undone: {decision.words}")

    @changes("/data/settle")
    def settle(self, request: Request, form: Form) -> Response:
        """Give every undecided column the role of the safest reading."""
        session = self.studio.session
        columns = {name: dict(said) for name, said in session.document.get("columns", {}).items()}
        settled = settle_columns_on_page(session, columns)
        if not settled:
            return answer("No column is undecided.")
        message = f"{listing(settled, most=40)}: settled by the safest reading."
        return self._change({name: columns[name] for name in settled}, message)

    @changes("/data/reading")
    def read_otherwise(self, request: Request, form: Form) -> Response:
        """Read the file in another way."""
        problem = self.studio.session.read_again(_read_fields(form))
        if problem:
            return refusal(problem)
        self._remember([])
        self.studio.opened += 1
        return answer("The file is read so now.", go=f"{self.studio.address}/data")

    @changes("/data/preview")
    def preview(self, request: Request, form: Form) -> Response:
        """Group sizes, with the builder around them unless a hierarchy is only tried."""
        session, name, kind = self.studio.session, column_of_form(self.studio.session, form), one(form, "kind") or None
        spec = one(form, "hierarchy")
        if one(form, "trying"):
            return self.studio.part("levels.html", levels=_hierarchy_levels_on_page(session, name, spec, kind))
        shown = _hierarchy_options_on_page(session, name, spec, kind)
        spec = shown["rest"] if shown["head"] == "file" else f"{shown['head']}:{shown['rest']}"
        return self.studio.part("builder.html", **shown, levels=_hierarchy_levels_on_page(session, name, spec, kind))

    @changes("/data/order")
    def order(self, request: Request, form: Form) -> Response:
        session, name = self.studio.session, column_of_form(self.studio.session, form)
        if "value" not in form:
            return self.studio.part("order.html", name=name, values=_order_values(session, name))
        problems = _put_in_order(session, name, form["value"])
        return refusal(*problems) if problems else self._show(f"{name}: the order is saved.")

    @changes("/data/groups/show")
    def show_groups(self, request: Request, form: Form) -> Response:
        """The values of a column in their groups."""
        name, said = self._said(form)
        session = self.studio.session
        return self.studio.part(
            "groups.html",
            name=name,
            groups=value_groups(session, name, said),
            labels=said.get("labels", {}),
            dropped=count_dropped_levels(session, name, said),
        )

    @changes("/data/labels")
    def save_labels(self, request: Request, form: Form) -> Response:
        """Write what the codes of a column mean into the plan."""
        session, (name, said) = self.studio.session, self._said(form)
        known = value_counts(session, name, said.get("kind"))
        pairs = zip(form.get("value", ()), form.get("label", ()), strict=False)
        labels = {value: label.strip() for value, label in pairs if label.strip() and label.strip() != value}
        label_codes(session.reading.column_as(name, said.get("kind")), name, labels)  # refused if they do not fit
        kept = {key: value for key, value in said.items() if key != "labels"}
        made = kept | ({"labels": labels} if labels else {})
        return self._change({name: made}, f"{name}: {len(labels)} of {len(known)} values have a label.")

    @changes("/data/groups")
    def save_groups(self, request: Request, form: Form) -> Response:
        name, said = self._said(form)
        larger = form.get("larger") or [""] * len(form.get("value", ()))
        groups = list(zip(form.get("value", ()), form.get("group", ()), larger, strict=False))
        return self._use_groups(name, said, save_groups(self.studio.session, name, said.get("kind"), groups))

    @changes("/data/groups/import")
    def import_groups(self, request: Request, form: Form) -> Response:
        name, said = self._said(form)
        return self._use_groups(
            name, said, import_groups(self.studio.session, name, said.get("kind"), one(form, "text"))
        )

    @shows("/data/groups.csv")
    def export_groups(self, request: Request) -> Response:
        name, said = self._said({"column": [request.query_params.get("column", "")]})
        content = groups_as_csv(self.studio.session, name, said)
        return Response(
            content, media_type="text/csv", headers={"content-disposition": 'attachment; filename="groups.csv"'}
        )

    def _said(self, form: Form) -> tuple[str, dict[str, Any]]:
        session = self.studio.session
        name = column_of_form(session, form)
        return name, dict(session.document.get("columns", {}).get(name, {}))

    def _use_groups(self, name: str, said: Mapping[str, Any], path: str) -> Response:
        return self._change({name: {**said, "hierarchy": path}}, f"{name}: its groups are in {path}.")

    @shows("/data/people")
    def people(self, request: Request) -> Response:
        """The people whose quasi-identifiers are rarest, with what makes them so."""
        raw, columns = self.studio.session.reading.raw, self.studio.session.document.get("columns", {})
        quasi = [name for name in raw.names if columns.get(name, {}).get("role") == Role.QUASI_IDENTIFIER]
        found = find_rarest_people(raw, quasi, MOST_PEOPLE)
        rows = np.array([each.row for each in found], dtype=np.intp)
        cells = read_cells(raw, rows, quasi) if found else []
        people = [(each, dict(zip(quasi, texts, strict=True))) for each, texts in zip(found, cells, strict=True)]
        return self.studio.part("people.html", people=people)

    @shows("/data/rows")
    def look(self, request: Request) -> Response:
        raw = self.studio.session.reading.raw
        some = nw.from_native(to_frame(raw.take(np.arange(min(ROWS, len(raw))))), eager_only=True)
        return self.studio.part("rows.html", names=some.columns, rows=some.rows(), total=len(raw))


def routes(studio: Studio) -> list[Route]:
    """What the file reveals, questions, the grid, its changes and previews."""
    return routes_of(_DataPage(studio))
