"""Conditions on figures, such as `k >= 5 and loss < 20`, read by a parser; nothing is executed.

condition   comparisons with and, or, not and brackets
comparison  a figure, one of < <= > >= = == !=, and a number, another figure, or text in quotation marks
A comparison with a figure that a solution does not have (k after perturbation) is false.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crypsis.errors import PlanError, listing, suggestion

Value = float | str | bool | None
Condition = Callable[[Mapping[str, Value]], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*%?|(?P<word>\"[^\"]*\"|'[^']*')"
    r"|(?P<name>[A-Za-z_][\w.\-]*)|(?P<sign><=|>=|==|!=|<|>|=|\(|\)))"
)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_EXAMPLE = 'write for example "k >= 5 and loss < 20"'


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    place: int


def parse(text: str, known: list[str]) -> Condition:
    """Read a condition.

    Parameters
    ----------
    text : str
        For example "k >= 5 and loss < 20".
    known : list of str
        Figures that may be named.

    Returns
    -------
    callable
        Row of figures → bool.

    Raises
    ------
    PlanError
        If the text cannot be read; the message names the place.

    Examples
    --------
    >>> parse("k >= 5", ["k"])({"k": 6.0})
    True
    """
    return _Parser(text, known).whole()


class _Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str, known: list[str]) -> None:
        self.text, self.known, self.tokens, self.at = text, known, self._cut(text), 0

    @staticmethod
    def _cut(text: str) -> list[_Token]:
        tokens, at = [], 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if not found or found.lastgroup is None:
                raise PlanError(f"condition {text!r}: cannot be read from place {at + 1} on; {_EXAMPLE}")
            tokens.append(_Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup) + 1))
            at = found.end()
        return tokens

    def _fail(self, wanted: str) -> PlanError:
        here = self.tokens[self.at] if self.at < len(self.tokens) else None
        found = f"{here.text!r} at place {here.place}" if here else "its end"
        return PlanError(f"condition {self.text!r}: {wanted} was expected and {found} found; {_EXAMPLE}")

    def _next_is(self, *texts: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].text.lower() in texts

    def _take(self) -> _Token:
        if self.at == len(self.tokens):
            raise self._fail("more")
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> Condition:
        """Read the whole text."""
        condition = self._either()
        if self.at < len(self.tokens):
            raise self._fail("'and', 'or' or the end")
        return condition

    def _either(self) -> Condition:
        return self._joined("or", self._both, any)

    def _both(self) -> Condition:
        return self._joined("and", self._one, all)

    def _joined(self, word: str, read: Callable[[], Condition], fold: Callable[[Iterable[bool]], bool]) -> Condition:
        parts = [read()]
        while self._next_is(word):
            self.at += 1
            parts.append(read())
        return lambda row: fold(part(row) for part in parts)

    def _one(self) -> Condition:
        if self._next_is("not"):
            self.at += 1
            inner = self._one()
            return lambda row: not inner(row)
        if self._next_is("("):
            self.at += 1
            inner = self._either()
            if not self._next_is(")"):
                raise self._fail("')'")
            self.at += 1
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        left = self._operand()
        if not self._next_is(*_SIGNS):
            raise self._fail("one of < <= > >= = !=")
        compare = _SIGNS[self._take().text]
        right = self._operand()

        def holds(row: Mapping[str, Value]) -> bool:
            a, b = left(row), right(row)
            if a is None or b is None or isinstance(a, str) != isinstance(b, str):
                return False
            return compare(a, b)

        return holds

    def _operand(self) -> Callable[[Mapping[str, Value]], Value]:
        token = self._take()
        if token.kind == "number":
            number = float(token.text)
            return lambda row: number
        if token.kind == "word":
            return lambda row: token.text[1:-1]
        if token.kind != "name" or token.text.lower() in ("and", "or", "not"):
            self.at -= 1
            raise self._fail("a figure or a number")
        if token.text not in self.known:
            raise PlanError(
                f"condition {self.text!r}: there is no figure {token.text!r}{suggestion(token.text, self.known)}; "
                f"figures: {listing(self.known, most=40)}"
            )
        return lambda row: row.get(token.text)
