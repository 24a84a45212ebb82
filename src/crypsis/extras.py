"""Packages that only some uses need: the extras of the installation, and the sentence that names the one missing."""

from __future__ import annotations

import importlib
from typing import Any

from crypsis.errors import ExtraMissing


def import_extra(module: str, extra: str, use: str) -> Any:
    """Import a module that an extra installs; refuse a use without it in one sentence.

    >>> import_extra("json", "studio", "the studio").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if (error.name or "").split(".")[0] != package:
            raise  # the package is there and lacks something itself
        raise ExtraMissing(
            f"{use} needs the package {package!r}, which is not installed; install it with: "
            f'pip install "crypsis[{extra}]"'
        ) from None
