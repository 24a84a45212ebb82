"""Projects of ARX (Prasser and Kohlmayer 2015): a zip of XML with roles, hierarchies, privacy models and weights.

The parts that ARX writes as Java objects are not read.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from crypsis.errors import PlanError
from crypsis.plan.foreign_settings import LARGEST, ForeignSettings
from crypsis.table.readers.compressed import open_zip
from crypsis.table.table import Table

ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier", "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "confidential", "INSENSITIVE_ATTRIBUTE": "other",
}  # fmt: skip
KINDS = {"integer": "numeric", "decimal": "numeric", "ordinal": "ordinal", "string": "nominal"}
USUAL_WEIGHT = 0.5
"""Weight that an attribute has in ARX unless somebody changes it."""


def read_arx_project(content: bytes, name: str, table: Table) -> ForeignSettings:
    """Roles, kinds, hierarchies, demands, weights and the suppression limit of a project about a table."""
    found = ForeignSettings(name)
    with open_zip(content, name) as archive:
        delimiter = _text(_parse(archive, "project.xml", name), "separator") or ";"
        definition = _parse(archive, "input/definition.xml", name)
        if definition is None:
            raise PlanError(f"{name} holds no input/definition.xml, so it is no project of ARX; save it again in ARX")
        for each in definition.iter("assigment"):
            _read_column(each, archive, delimiter, found, table)
        config = _parse(archive, "input/config.xml", name)
        if config is not None:
            _read_config(config, found, table)
    return found


def _parse(archive: zipfile.ZipFile, member: str, name: str) -> ElementTree.Element | None:
    """A part of a project; None where it has none."""
    content = _member(archive, member, name)
    if content is None:
        return None
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise PlanError(f"{name}: {member} declares a document type, which ARX does not write; save the project again")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError:
        raise PlanError(f"{name}: {member} is damaged; save the project again in ARX") from None


def _member(archive: zipfile.ZipFile, member: str, name: str) -> bytes | None:
    try:
        if archive.getinfo(member).file_size > LARGEST:
            raise PlanError(f"{name}: {member} has more than {LARGEST // 1_000_000} MB; give a smaller project")
        with archive.open(member) as part:
            return part.read(LARGEST + 1)
    except KeyError:
        return None
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError):
        raise PlanError(f"{name}: {member} is damaged; save the project again in ARX") from None


def _text(element: ElementTree.Element | None, tag: str) -> str:
    return "" if element is None else (element.findtext(tag) or "")


def _read_column(
    element: ElementTree.Element, archive: zipfile.ZipFile, delimiter: str, found: ForeignSettings, table: Table
) -> None:
    names = found.known_columns(table, [_text(element, "name")], "the definition")
    if not names:
        return
    name, role, kind = names[0], ROLES.get(_text(element, "type")), KINDS.get(_text(element, "datatype").lower())
    if role is None:
        found.note(f"attribute {name!r} has the type {_text(element, 'type')!r}, which is not known; skipped")
        return
    found.roles[name] = role
    if kind is not None and (kind == "numeric") == table.attribute(name).numeric:
        found.kinds[name] = kind
    if _text(element, "microAggregationFunction"):
        what = _text(element, "microAggregationFunction")
        found.note(f"attribute {name!r} is microaggregated by {what!r}, which is not taken over; the searches choose")
    reference = _text(element, "ref")
    if role in ("quasi", "confidential") and reference:
        rows = list(_hierarchy_rows(_member(archive, f"input/{reference}", found.source), delimiter))
        if rows:
            found.hierarchies[name] = rows
        else:
            found.note(f"attribute {name!r}: its hierarchy {reference!r} is not in the project; one is drafted")


def _hierarchy_rows(content: bytes | None, delimiter: str) -> Iterator[list[str]]:
    if content:
        text = io.StringIO(content.decode("utf-8", errors="replace"), newline="")
        yield from (row for row in csv.reader(text, delimiter=delimiter[:1]) if row)


def _read_config(config: ElementTree.Element, found: ForeignSettings, table: Table) -> None:
    limit = _text(config, "relativeMaxOutliers")
    if limit:
        found.suppression = min(max(float(limit), 0.0), 1.0)
    for weight in config.iter("attributeWeight"):
        names = found.known_columns(table, [_text(weight, "attribute")], "attributeWeights")
        value = float(_text(weight, "weight") or USUAL_WEIGHT)
        if names and value != USUAL_WEIGHT:
            found.importance[names[0]] = min(round(value / USUAL_WEIGHT, 2), 5.0)
    for criterion in config.iter("criterion"):
        _read_criterion((criterion.text or "").strip(), found, table)


NUMBER = r"(\d+(?:\.\d+)?)"
ATTRIBUTE = r"for attribute '(.*)'$"
CRITERIA = {
    "k": re.compile(rf"^\(?{NUMBER}\)?-anonymity$", re.IGNORECASE),
    "distinct": re.compile(rf"^distinct-{NUMBER}-diversity {ATTRIBUTE}", re.IGNORECASE),
    "entropy": re.compile(rf"^(?:shannon-)?entropy-{NUMBER}-diversity {ATTRIBUTE}", re.IGNORECASE),
    "recursive": re.compile(rf"^recursive-\({NUMBER},\s*{NUMBER}\)-diversity {ATTRIBUTE}", re.IGNORECASE),
    "closeness": re.compile(rf"^{NUMBER}-closeness with (equal|ordered|hierarchical).* {ATTRIBUTE}", re.IGNORECASE),
    "likeness": re.compile(rf"^(enhanced|basic)-{NUMBER}-likeness {ATTRIBUTE}", re.IGNORECASE),
}
"""How ARX writes its privacy models."""


def _read_criterion(text: str, found: ForeignSettings, table: Table) -> None:
    name, said = next(((name, said) for name, form in CRITERIA.items() if (said := form.match(text))), ("", None))
    if said is None:
        found.note(f"the privacy model {text!r} is not understood; skipped")
        return
    if name == "k":
        found.k = max(int(float(said[1])), found.k or 0)
        return
    columns = found.known_columns(table, [said.group(said.lastindex or 0)], f"the privacy model {text!r}")
    if not columns:
        return
    demand: dict[str, object] = {"model": "l-diversity", "confidential": columns}
    if name == "distinct":
        demand["l"] = int(float(said[1]))
    elif name == "entropy":
        demand |= {"l": float(said[1]), "kind": "entropy"}
    elif name == "recursive":
        demand |= {"l": int(float(said[2])), "kind": "recursive", "c": float(said[1])}
    elif name == "closeness":
        distance = said[2].lower()
        if distance == "hierarchical" and columns[0] not in found.hierarchies:
            found.note(f"the privacy model {text!r} has no hierarchy to measure by; equal distances are demanded")
            distance = "equal"
        demand |= {"model": "t-closeness", "t": float(said[1]), "distance": distance}
    else:
        demand |= {"model": "beta-likeness", "beta": float(said[2]), "kind": said[1].lower()}
    found.demands.append(demand)
