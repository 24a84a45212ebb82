"""Scripts of sdcMicro (Templ, Kowarik and Meindl 2015): the calls that set up and mask a table, by a parser of our own.

Values, names that hold values, vectors, and calls with arguments are understood. Nothing is executed; a call that is
not understood is named and skipped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crypsis.plan.foreign_settings import ForeignSettings, rank_importance
from crypsis.table.table import Table

TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f]+|\#[^\n]*)|(?P<end>[\n;])|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?L?)|(?P<name>[A-Za-z.][\w.]*)"""
    r"""|(?P<sign><<?-|->|==|<=|>=|!=|%[^%\n]*%|\|>|::?|[-+*/^<>=!&|~$@?\[\]{}(),])""",
    re.VERBOSE,
)
OPENING, CLOSING = "([{", ")]}"


class _Unclear:
    """A value that is not understood."""


UNCLEAR = _Unclear()


@dataclass(frozen=True)
class Token:
    """A word of a script."""

    kind: str
    text: str
    line: int


@dataclass
class Call:
    """A call with what its arguments are, as far as they are understood."""

    name: str
    line: int
    places: list[Any] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)

    def get(self, *names: str) -> Any:
        """The first argument of these names that is understood and not NULL."""
        found = (self.named.get(name) for name in names)
        return next((value for value in found if value is not None and value is not UNCLEAR), None)

    def texts(self, *names: str) -> list[str]:
        """An argument as a list of texts."""
        value = self.get(*names)
        values = value if isinstance(value, list) else [] if value is None else [value]
        return [str(each) for each in values if isinstance(each, str)]

    def number(self, *names: str) -> float | None:
        """An argument as a number; of a vector its largest."""
        value = self.get(*names)
        values = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, (int, float))]
        return max(values) if values else None


def tokens_of_script(text: str) -> Iterator[Token]:
    """The words of a script of R with their lines; comments and blanks are left out, unknown characters are signs.

    >>> [token.text for token in tokens_of_script("a <- c(1, 'x') # two")]
    ['a', '<-', 'c', '(', '1', ',', "'x'", ')']
    """
    place, line = 0, 1
    while place < len(text):
        found = TOKEN.match(text, place)
        word, kind = (found.group(), str(found.lastgroup)) if found else (text[place], "sign")
        if kind != "space":
            yield Token(kind, word, line)
        line += word.count("\n")
        place += len(word)


def _statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Tokens up to the end of a line outside of brackets; an operator at the end or start of a line continues it."""
    depth, found = 0, list[Token]()
    for token in tokens:
        if token.kind == "end" and depth == 0:
            continues = found and (found[-1].text in ("<-", "=", "+", ",") or found[-1].text.startswith(("%", "|>")))
            if found and not continues:
                yield found
                found = []
            continue
        if token.kind == "end":
            continue
        depth = max(depth + (token.text in OPENING) - (token.text in CLOSING), 0)
        found.append(token)
    if found:
        yield found


class Values:
    """The values that a script gives to names, and how its expressions are read."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}

    def value(self, tokens: Sequence[Token]) -> Any:
        """The value of an expression: texts, numbers, truth, NULL, vectors of these, ranges; else unclear."""
        if not tokens:
            return UNCLEAR
        if tokens[0].text == "-" and len(tokens) == 2 and tokens[1].kind == "number":
            return -_number(tokens[1].text)
        if len(tokens) == 3 and tokens[1].text == ":" and tokens[0].kind == tokens[2].kind == "number":
            first, last = int(_number(tokens[0].text)), int(_number(tokens[2].text))
            return [float(each) for each in range(first, last + 1)] if last - first <= 10_000 else UNCLEAR
        if len(tokens) == 1:
            return self._word(tokens[0])
        if tokens[0].text == "c" and tokens[1].text == "(" and tokens[-1].text == ")":
            parts = [self.value(part[1]) for part in split_arguments(tokens[2:-1])]
            flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
            return flat if not any(each is UNCLEAR for each in flat) else UNCLEAR
        return UNCLEAR

    def _word(self, token: Token) -> Any:
        if token.kind == "text":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if token.kind == "number":
            return _number(token.text)
        known = {"NULL": None, "TRUE": True, "T": True, "FALSE": False, "F": False, "Inf": math.inf}
        return known[token.text] if token.text in known else self.held.get(token.text, UNCLEAR)


def _number(text: str) -> float:
    return float(text.rstrip("L"))


def split_arguments(tokens: Sequence[Token]) -> list[tuple[str, list[Token]]]:
    """The arguments of a call in a script: name, empty if it has none, and tokens of each."""
    parts, depth = [list[Token]()], 0
    for token in tokens:
        if token.text == "," and depth == 0 and token.kind == "sign":
            parts.append([])
            continue
        if token.kind == "sign":
            depth += (token.text in OPENING) - (token.text in CLOSING)
        parts[-1].append(token)
    found = []
    for part in parts:
        if len(part) > 1 and part[1].text == "=" and part[0].kind in ("name", "text"):
            found.append((part[0].text.strip("\"'"), part[2:]))
        elif part:
            found.append(("", part))
    return found


def calls_of_script(text: str) -> Iterator[Call]:
    """The outer calls of a script in their order, with the values of names that were given before."""
    values = Values()
    for statement in _statements(list(tokens_of_script(text))):
        target, rest = "", statement
        if len(statement) > 2 and statement[0].kind == "name" and statement[1].text in ("<-", "="):
            target, rest = statement[0].text, statement[2:]
        value = values.value(rest)
        if target:
            values.held[target] = value
        if value is not UNCLEAR:
            continue
        place = next(
            (p for p in range(len(rest) - 1) if rest[p].kind == "name" and rest[p + 1].text == "("), None
        )  # fmt: skip
        if place is None:
            continue
        known = [p for p in range(place, len(rest) - 1) if rest[p].text in UNDERSTOOD and rest[p + 1].text == "("]
        place = known[0] if known else place
        call = Call(rest[place].text, rest[place].line)
        for name, tokens in split_arguments(_inside(rest[place + 1 :])):
            if name:
                call.named[name] = values.value(tokens)
            else:
                call.places.append(values.value(tokens))
        yield call


def _inside(tokens: Sequence[Token]) -> list[Token]:
    """What is between the first bracket and the one that closes it."""
    depth = 0
    for place, token in enumerate(tokens):
        if token.kind == "sign":
            depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0:
            return list(tokens[1:place])
    return list(tokens[1:])


# -- what each call means --


def read_sdcmicro_script(content: bytes, name: str, table: Table) -> ForeignSettings:
    """Roles, demands, hierarchies and masking steps of a script about a table."""
    found = ForeignSettings(name)
    skipped, done = dict[str, int](), list[Callable[[], None]]()
    for call in calls_of_script(content.decode("utf-8", errors="replace")):
        if call.name == "undolast":
            done = done[:-1]
        elif call.name in UNDERSTOOD:
            step = _step(call, found, table)
            if call.name in SET_UP:
                step()
            else:
                done.append(step)
        else:
            skipped.setdefault(call.name, call.line)
    for step in done:
        step()
    if skipped:
        told = ", ".join(f"{each} (line {line})" for each, line in skipped.items())
        found.note(f"not understood and skipped: {told}")
    return found


def _step(call: Call, found: ForeignSettings, table: Table) -> Callable[[], None]:
    return lambda: UNDERSTOOD[call.name](call, found, table)


ROLE_ARGUMENTS = {
    "keyVars": "quasi", "numVars": "quasi", "pramVars": "quasi", "weightVar": "weight", "hhId": "household",
    "strataVar": "stratum", "sensibleVar": "confidential", "excludeVars": "identifier",
}  # fmt: skip
"""Arguments of createSdcObj and the roles that they give."""


def _create(call: Call, found: ForeignSettings, table: Table) -> None:
    for argument, role in ROLE_ARGUMENTS.items():
        where = f"createSdcObj (line {call.line}), {argument},"
        for name in found.known_columns(table, call.texts(argument), where):
            found.roles.setdefault(name, role)
            if argument == "numVars":
                found.kinds[name] = "numeric"
                found.measured.append(name)
        if call.named.get(argument) is UNCLEAR:
            found.note(f"createSdcObj (line {call.line}): what {argument} is was not understood; skipped")
    if call.get("ghostVars") is not None or call.named.get("ghostVars") is UNCLEAR:
        found.note(f"createSdcObj (line {call.line}): ghostVars are not taken over; link such columns in the plan")


def _of_role(found: ForeignSettings, table: Table, call: Call, *names: str, numeric: bool) -> list[str]:
    """The columns that a step names, by default the key variables of its kind."""
    given = call.texts(*names)
    if given:
        return found.known_columns(table, given, f"{call.name} (line {call.line})")
    quasi = [name for name, role in found.roles.items() if role == "quasi"]
    return [name for name in quasi if (name in found.measured) == numeric]


def _suppress(call: Call, found: ForeignSettings, table: Table) -> None:
    k = int(call.number("k") or 2)
    found.k = max(k, found.k or 0, 2)
    keys = _of_role(found, table, call, "keyVars", numeric=False)
    ranks = call.get("importance")
    if isinstance(ranks, list) and len(ranks) == len(keys):
        found.importance |= rank_importance(dict(zip(keys, map(float, ranks), strict=True)))
    elif call.named.get("importance") is not None:
        found.note(f"{call.name} (line {call.line}): importance does not have a number for each key variable; skipped")
    if call.named.get("combs") is not None:
        found.note(
            f"{call.name} (line {call.line}): combs is not taken over; write a [[scenario]] for each combination"
        )
    found.steps.append(("cell-suppression", {"columns": keys, "k": max(k, 2), "missing": "wildcard"}))


def _aggregate(call: Call, found: ForeignSettings, table: Table) -> None:
    method = call.get("method") or "mdav"
    if method != "mdav":
        found.note(f"{call.name} (line {call.line}): method {method!r} is replayed as mdav")
    columns = _of_role(found, table, call, "variables", numeric=True)
    found.steps.append(("microaggregation", {"columns": columns, "k": max(int(call.number("aggr") or 3), 2)}))


def _randomise(call: Call, found: ForeignSettings, table: Table) -> None:
    columns = _of_role(found, table, call, "variables", numeric=False)
    theta = round(1 - float(call.number("pd") or 0.8), 4)
    found.note(
        f"{call.name} (line {call.line}): replayed by invariant matrices, a value stays in {1 - theta:g} of all cases"
    )
    found.steps.append(("pram", {"columns": columns, "theta": min(max(theta, 0.01), 1.0)}))


def _add_noise(call: Call, found: ForeignSettings, table: Table) -> None:
    columns = _of_role(found, table, call, "variables", numeric=True)
    method = str(call.get("method") or "additive")
    if not method.startswith(("additive", "correlated")):
        found.note(f"{call.name} (line {call.line}): method {method!r} is replayed as additive noise")
    settings = {"columns": columns, "amount": float(call.number("noise") or 150.0) / 100}
    found.steps.append(("noise", settings | ({"correlated": True} if method.startswith("correlated") else {})))


def _swap(call: Call, found: ForeignSettings, table: Table) -> None:
    columns = _of_role(found, table, call, "variables", numeric=True)
    found.steps.append(("rank-swapping", {"columns": columns, "percent": float(call.number("P") or 5.0)}))


def _recode(call: Call, found: ForeignSettings, table: Table) -> None:
    """Breaks of a number become a hierarchy of one level more."""
    names = found.known_columns(table, call.texts("column"), f"{call.name} (line {call.line})")
    breaks = call.get("breaks")
    if not names or not table.holds_numbers(names[0]) or breaks is None or isinstance(breaks, str):
        found.note(f"{call.name} (line {call.line}): only breaks of a column of numbers are understood; skipped")
        return
    numbers = table.column(names[0])
    values = np.unique(numbers[~np.isnan(numbers)])
    if not isinstance(breaks, list):  # a number of equal intervals
        breaks = np.linspace(values[0], values[-1], int(breaks) + 1).tolist()
    cuts = sorted(float(each) for each in breaks)
    inner = [cut for cut in cuts if math.isfinite(cut)][1:-1] if len(cuts) > 2 else cuts
    groups = np.searchsorted(np.array(inner), values, side="left")  # R closes intervals on the right
    labels = {g: _span(values[groups == g]) for g in np.unique(groups)}
    found.hierarchies[names[0]] = [[f"{value:g}", labels[g], "*"] for value, g in zip(values, groups, strict=True)]
    found.kinds[names[0]] = "numeric"
    _replay_recoding(found)


def _replay_recoding(found: ForeignSettings) -> None:
    """One step recodes all columns, where the first of them is."""
    if all(method != "generalisation" for method, _ in found.steps):
        found.steps.append(("generalisation", {}))


def _span(values: Any) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g}-{values[-1]:g}"


def _group(call: Call, found: ForeignSettings, table: Table) -> None:
    """Categories that become one are a group of the first level of a hierarchy."""
    names = found.known_columns(table, call.texts("var"), f"{call.name} (line {call.line})")
    before, after = call.texts("before"), call.texts("after")
    if not names or not before or len(after) not in (1, len(before)):
        found.note(f"{call.name} (line {call.line}): before and after are not as many as each other; skipped")
        return
    name, renamed = names[0], dict(zip(before, after * (len(before) if len(after) == 1 else 1), strict=False))
    if name not in found.hierarchies:
        values = (
            [f"{each:g}" for each in np.unique(table.column(name)[~np.isnan(table.column(name))])]
            if table.holds_numbers(name)
            else list(table.labels(name))
        )
        found.hierarchies[name] = [[value, value, "*"] for value in values]
        found.kinds.setdefault(name, "nominal")
    for row in found.hierarchies[name]:
        row[1] = renamed.get(row[1], row[1])
    _replay_recoding(found)


def _code(call: Call, found: ForeignSettings, table: Table) -> None:
    names, value = (
        found.known_columns(table, call.texts("column"), f"{call.name} (line {call.line})"),
        call.number("value"),
    )
    if not names or value is None or not table.holds_numbers(names[0]):
        found.note(f"{call.name} (line {call.line}): a column of numbers and a value are needed; skipped")
        return
    top = (call.get("kind") or "top") == "top"
    numbers = table.column(names[0])
    beyond = float(np.mean(numbers > value if top else numbers < value))
    found.note(f"{call.name} (line {call.line}): replayed for the same records, with another replacement")
    if beyond > 0:
        method = "top-coding" if top else "bottom-coding"
        found.steps.append((method, {"columns": names, "percent": round(100 * beyond, 4)}))


def _as_factor(call: Call, found: ForeignSettings, table: Table) -> None:
    for name in found.known_columns(table, call.texts("var"), f"{call.name} (line {call.line})"):
        found.kinds[name] = "nominal"


UNDERSTOOD: dict[str, Callable[[Call, ForeignSettings, Table], None]] = {
    "createSdcObj": _create, "varToFactor": _as_factor, "localSuppression": _suppress, "kAnon": _suppress,
    "microaggregation": _aggregate, "pram": _randomise, "addNoise": _add_noise, "rankSwap": _swap,
    "globalRecode": _recode, "groupAndRename": _group, "topBotCoding": _code,
}  # fmt: skip
"""Calls of sdcMicro that are understood."""
SET_UP = ("createSdcObj", "varToFactor")
"""Calls that undolast does not undo."""
