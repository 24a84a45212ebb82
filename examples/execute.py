"""Execute the notebooks and store what they print: `python examples/execute.py [NOTEBOOK …]`.

Cells run one after the other in this process, as a reader would run them, and need no notebook software. What a cell
prints and its last expression are stored, the latter as the table that a notebook shows. A digest of the code is stored
with them, so that outputs of other code are found out.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parent / "notebooks"
MOST = 400
"""Characters of the plain text of a value; its table is stored as a whole."""


def code_cells(book: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook that hold code."""
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def digest(book: dict[str, Any]) -> str:
    """A digest of all code of a notebook."""
    text = "\n".join("".join(cell["source"]) for cell in code_cells(book))
    return hashlib.sha256(text.encode()).hexdigest()


def run_cell(source: str, names: dict[str, Any], title: str) -> list[dict[str, Any]]:
    """Run the code of a cell and return its outputs: what it printed, and its last expression."""
    body = ast.parse(source, title).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        exec(compile(ast.Module(body, []), title, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), title, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(keepends=True)})
    if value is not None:
        shown = {"text/plain": repr(value)[:MOST]}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = value._repr_html_()
        data = {kind: text.splitlines(keepends=True) for kind, text in shown.items()}
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def execute(path: Path) -> dict[str, Any]:
    """Run a notebook and return it with new outputs."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(book), 1):
        cell["outputs"] = run_cell("".join(cell["source"]), names, f"{path.stem}, cell {number}")
        cell["execution_count"] = number
        for output in cell["outputs"]:
            output |= {"execution_count": number} if "execution_count" in output else {}
    book["metadata"]["code"] = digest(book)
    return book


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(NOTEBOOKS.glob("*.ipynb")):
        each.write_text(json.dumps(execute(each), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{each.name}: {each.stat().st_size / 1000:.0f} kB")
