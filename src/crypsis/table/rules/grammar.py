"""The language of edit rules, read by a parser of its own; nothing is executed.

rule        a condition, or: if condition then condition
condition   comparisons with and, or, not and brackets
comparison  < <= > >= = != between values; value in {…}; value not in {…}; value is missing; value is not missing
value       a column, a number, a date (2020-01-31), a text in single quotes; joined by + - * / and brackets
column      its name; in double quotes or backticks where it is not made of letters, digits, _ and .
derivation  a value or a condition, in which values may also have powers (height^2) and functions: log(x), log10(x),
            exp(x), sqrt(x), abs(x), floor(x), ceil(x), round(x), and cut(x, 'young', 18, 'adult', 65, 'old'): 'young'
            below 18, 'adult' from 18 on, 'old' from 65 on
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from crypsis.errors import PlanError

_TOKEN = re.compile(
    r"""\s*(?:(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?)
    |(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)
    |'(?P<text>[^']*)'|"(?P<quoted>[^"]+)"|`(?P<ticked>[^`]+)`
    |(?P<name>[^\W\d][\w.]*)
    |(?P<sign><=|>=|!=|==|<>|[<>=+\-*/(){},^]))""",
    re.VERBOSE,
)
KEYWORDS = ("if", "then", "and", "or", "not", "in", "is", "missing")
EXAMPLE = "write for example: if marital = 'married' then age >= 15"
FUNCTIONS = ("log", "log10", "exp", "sqrt", "abs", "floor", "ceil", "round", "cut")
"""What a derivation may apply to a value; the last one has more arguments."""
DERIVED_EXAMPLE = "write for example: wage + pension, log(income), weight / height^2 or age >= 65"
DEEPEST = 60
"""Brackets and negations within each other, at most."""


@dataclass(frozen=True)
class ColumnValue:
    """The value of a column."""

    name: str
    place: int = 0


@dataclass(frozen=True)
class Constant:
    """A number, a text, or a date as days since 1970-01-01."""

    value: float | str
    dated: bool = False
    place: int = 0


@dataclass(frozen=True)
class Signed:
    """Two values with a sign between them."""

    sign: str
    left: Value
    right: Value


class Arithmetic(Signed):
    """Two values joined by + - * / or, in a derivation, ^."""


@dataclass(frozen=True)
class Applied:
    """A function of one value."""

    name: str
    value: Value


@dataclass(frozen=True)
class Cut:
    """A label for each interval of a value: the first below the first bound, each other from its bound on."""

    value: Value
    bounds: tuple[float, ...]
    labels: tuple[Constant, ...]


class Relation(Signed):
    """Two values compared by < <= > >= = or !=."""


@dataclass(frozen=True)
class Membership:
    """Whether a column holds one of some constants."""

    value: ColumnValue
    among: tuple[Constant, ...]


@dataclass(frozen=True)
class Absence:
    """Whether a column lacks a value."""

    value: ColumnValue


@dataclass(frozen=True)
class Negation:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True)
class Junction:
    """Conditions joined by and, or by or."""

    word: str
    parts: tuple[Condition, ...]


Value = ColumnValue | Constant | Arithmetic | Applied | Cut
Condition = Relation | Membership | Absence | Negation | Junction
CONDITIONS = (Relation, Membership, Absence, Negation, Junction)


@dataclass(frozen=True)
class EditRule:
    """A relation between the columns of a record.

    >>> read_rule("if marital = 'married' then age >= 15").columns
    ('marital', 'age')
    """

    text: str  # as it was written
    condition: Condition  # what must hold; `if a then b` is read as `not a or b`

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names, each once, in their order."""
        return tuple(dict.fromkeys(each.name for each in _names(self.condition)))


@dataclass(frozen=True)
class Derivation:
    """How a column follows from others.

    >>> read_derivation("weight / height^2").columns
    ('weight', 'height')
    """

    text: str  # as it was written
    node: Value | Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names, each once, in their order."""
        return tuple(dict.fromkeys(each.name for each in _names(self.node)))


def _names(node: Value | Condition) -> Iterator[ColumnValue]:
    if isinstance(node, ColumnValue):
        yield node
    elif isinstance(node, (Applied, Cut)):
        yield from _names(node.value)
    elif isinstance(node, (Membership, Absence)):
        yield node.value
    elif isinstance(node, (Arithmetic, Relation)):
        yield from _names(node.left)
        yield from _names(node.right)
    elif isinstance(node, Negation):
        yield from _names(node.part)
    elif isinstance(node, Junction):
        for part in node.parts:
            yield from _names(part)


def read_rule(text: str) -> EditRule:
    """Read a rule.

    >>> read_rule("total = part1 + part2").condition.sign
    '='
    """
    parser = _RuleParser(text)
    found = parser.rule()
    parser.end()
    if not any(True for _ in _names(found)):
        raise PlanError(f"rule {text!r}: it names no column; {EXAMPLE}")
    return EditRule(text, found)


def read_derivation(text: str) -> Derivation:
    """Read how a column follows from others; nothing is executed.

    >>> read_derivation("wage + pension").columns
    ('wage', 'pension')
    """
    parser = _RuleParser(text, derivation=True)
    found = parser.rule_or_value()
    parser.end()
    if not any(True for _ in _names(found)):
        raise PlanError(f"derivation {text!r}: it names no column; {DERIVED_EXAMPLE}")
    return Derivation(text, found)


@dataclass(frozen=True)
class _RuleToken:
    kind: str
    text: str
    place: int


class _RuleParser:
    """Recursive descent over the tokens of one rule."""

    def __init__(self, text: str, *, derivation: bool = False) -> None:
        self.text, self.tokens, self.at, self.depth = text, _tokens(text), 0, 0
        self.derivation = derivation

    # -- conditions --

    def rule(self) -> Condition:
        if self._word("if"):
            condition = self._condition(self._either())
            if not self._word("then"):
                raise self._wrong("then is missing after the condition")
            return Junction("or", (Negation(condition), self.rule()))
        return self._condition(self._either())

    def _either(self) -> Value | Condition:
        return self._parse_joined("or", self._both)

    def _both(self) -> Value | Condition:
        return self._parse_joined("and", self._parse_negated)

    def _parse_joined(self, word: str, part: object) -> Value | Condition:
        assert callable(part)
        first = part()
        parts = [first]
        while self._word(word):
            parts.append(part())
        return first if len(parts) == 1 else Junction(word, tuple(self._condition(each) for each in parts))

    def _parse_negated(self) -> Value | Condition:
        if self._word("not"):
            with_depth = self._deeper(self._parse_negated)
            return Negation(self._condition(with_depth))
        return self._parse_compared()

    def _parse_compared(self) -> Value | Condition:
        left = self._sum()
        if self._word("is"):
            opposite = self._word("not")
            if not self._word("missing"):
                raise self._wrong("missing is expected after is")
            absence = Absence(self._column(left))
            return Negation(absence) if opposite else absence
        place = self.at
        opposite = self._word("not")
        if self._word("in"):
            membership = Membership(self._column(left), self._set())
            return Negation(membership) if opposite else membership
        self.at = place
        sign = self._sign("<=", ">=", "!=", "<>", "==", "<", ">", "=")
        if not sign:
            return left
        right = self._sum()
        usual = {"==": "=", "<>": "!="}.get(sign, sign)
        return Relation(usual, self._value(left), self._value(right))

    # -- values --

    def _sum(self) -> Value | Condition:
        found = self._product()
        while sign := self._sign("+", "-"):
            found = Arithmetic(sign, self._value(found), self._value(self._product()))
        return found

    def _product(self) -> Value | Condition:
        found = self._parse_signed()
        while sign := self._sign("*", "/"):
            found = Arithmetic(sign, self._value(found), self._value(self._parse_signed()))
        return found

    def _parse_signed(self) -> Value | Condition:
        if self._sign("-"):
            return Arithmetic("-", Constant(0.0), self._value(self._deeper(self._parse_signed)))
        found = self._primary()
        if self.derivation and self._sign("^"):
            return Arithmetic("^", self._value(found), Constant(self._number("a power")))
        return found

    def _number(self, what: str) -> float:
        """A number that stands there, with its sign."""
        negative, token = bool(self._sign("-")), self._next()
        if token is None or token.kind != "number":
            raise self._wrong(f"{what} is a number")
        self.at += 1
        return -float(token.text) if negative else float(token.text)

    def _function(self, name: str) -> Value:
        """A function of a value, after its opening bracket."""
        value = self._value(self._deeper(self._sum))
        if name != "cut":
            if not self._sign(")"):
                raise self._wrong(f"{name} has one value, and its bracket is not closed")
            return Applied(name, value)
        labels, bounds = list[Constant](), list[float]()
        while True:
            if not self._sign(","):
                raise self._wrong("cut needs a value, then labels and bounds in turn, and ends with a label")
            negative, token = bool(self._sign("-")), self._next()
            if token is None or token.kind not in ("number", "text"):
                raise self._wrong("a label is a number or a text in single quotes")
            self.at += 1
            label = _constant(token)
            labels.append(Constant(-label.value) if negative and isinstance(label.value, float) else label)
            if self._sign(")"):
                break
            if not self._sign(","):
                raise self._wrong(", or ) is expected after a label")
            bounds.append(self._number("a bound"))
        if len(labels) < 2 or sorted(set(bounds)) != bounds:
            raise self._wrong("cut needs two labels at least, and bounds that grow")
        return Cut(value, tuple(bounds), tuple(labels))

    def _primary(self) -> Value | Condition:
        token = self._next()
        if token is None:
            raise self._wrong("it ends too early")
        if token.kind == "sign" and token.text == "(":
            self.at += 1
            found = self._deeper(self.rule_or_value)
            if not self._sign(")"):
                raise self._wrong("a bracket is not closed")
            return found
        if token.kind in ("quoted", "ticked") or (token.kind == "name" and token.text.lower() not in KEYWORDS):
            self.at += 1
            if self.derivation and token.kind == "name" and token.text.lower() in FUNCTIONS and self._sign("("):
                return self._function(token.text.lower())
            return ColumnValue(token.text, token.place)
        if token.kind in ("number", "date", "text"):
            self.at += 1
            return _constant(token)
        raise self._wrong("a column, number, date or text is expected")

    def rule_or_value(self) -> Value | Condition:
        """What stands in brackets."""
        token = self._next()
        return self.rule() if token is not None and token.text.lower() == "if" else self._either()

    def _set(self) -> tuple[Constant, ...]:
        if not self._sign("{"):
            raise self._wrong("{ is expected after in")
        found: list[Constant] = []
        while True:
            negative = bool(self._sign("-"))
            token = self._next()
            if token is None or token.kind not in ("number", "date", "text"):
                raise self._wrong("a number, date or text is expected in the set")
            self.at += 1
            constant = _constant(token)
            if negative and isinstance(constant.value, float):
                constant = Constant(-constant.value, constant.dated, constant.place)
            found.append(constant)
            if self._sign("}"):
                return tuple(found)
            if not self._sign(","):
                raise self._wrong(", or } is expected in the set")

    # -- tokens --

    def _next(self) -> _RuleToken | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _word(self, word: str) -> bool:
        token = self._next()
        found = token is not None and token.kind == "name" and token.text.lower() == word
        self.at += found
        return found

    def _sign(self, *signs: str) -> str:
        token = self._next()
        if token is None or token.kind != "sign" or token.text not in signs:
            return ""
        self.at += 1
        return token.text

    def _deeper(self, part: object) -> Value | Condition:
        assert callable(part)
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._wrong(f"more than {DEEPEST} brackets or negations stand within each other")
        found: Value | Condition = part()
        self.depth -= 1
        return found

    def _condition(self, node: Value | Condition) -> Condition:
        if isinstance(node, CONDITIONS):
            return node
        raise self._wrong("a value stands where a condition is expected")

    def _value(self, node: Value | Condition) -> Value:
        if isinstance(node, CONDITIONS):
            raise self._wrong("a condition stands where a value is expected")
        return node

    def _column(self, node: Value | Condition) -> ColumnValue:
        if isinstance(node, ColumnValue):
            return node
        raise self._wrong("in and is missing ask a column")

    def end(self) -> None:
        """Refuse what is left over."""
        if self._next() is not None:
            raise self._wrong("this is not understood")

    def _wrong(self, why: str) -> PlanError:
        token = self._next()
        place = len(self.text) if token is None else token.place
        near = "at its end" if token is None else f"at place {place + 1}, before {self.text[place : place + 20]!r}"
        what, example = ("derivation", DERIVED_EXAMPLE) if self.derivation else ("rule", EXAMPLE)
        return PlanError(f"{what} {self.text!r}: {why}, {near}; {example}")


def _tokens(text: str) -> list[_RuleToken]:
    found, place = [], 0
    while place < len(text) and text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            raise PlanError(
                f"rule {text!r}: {text[start : start + 10]!r} at place {start + 1} is not understood; {EXAMPLE}"
            )
        kind = str(match.lastgroup)
        found.append(
            _RuleToken(kind, match.group(kind), match.start() + len(match.group(0)) - len(match.group(0).lstrip()))
        )
        place = match.end()
    return found


def _constant(token: _RuleToken) -> Constant:
    if token.kind == "number":
        return Constant(float(token.text), place=token.place)
    if token.kind == "text":
        return Constant(token.text, place=token.place)
    try:
        moment = datetime.fromisoformat(token.text)
    except ValueError:
        raise PlanError(f"rule: {token.text!r} is no date; write for example 2020-01-31") from None
    days = (moment.date() - date(1970, 1, 1)).days
    return Constant(
        days + (moment - datetime.combine(moment.date(), datetime.min.time())).seconds / 86400, True, token.place
    )
