"""Prints, as JSON, the kind of each public name (function, class, ...) once all modules are
imported, and what commands print for `--help`. The kind is checked because importing a module
`sequoia.x` would replace a function `sequoia.x`.

Run as `python tests/after_import.py MODULE ...`. It needs its own process, because other tests have
imported parts of the package before. Importing other libraries takes seconds, so they are imported
only once. Each command runs in a fork, as `python -m` would run it, and imports only this package
again.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import io
import json
import pkgutil
import runpy
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from multiprocessing import get_context
from typing import Any

import sequoia


def main(commands: Sequence[str]) -> None:
    modules, kinds = all_imported()
    with get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        helps = dict(zip(commands, pool.map(help_of, commands, chunksize=1), strict=True))
    json.dump({"modules": modules, "kinds": kinds, "helps": helps}, sys.stdout)


def all_imported() -> tuple[list[str], dict[str, str]]:
    """Imports all modules of the package except those called __main__. Returns the names of these
    modules, and for each public name what `kind_of` returns."""
    found = pkgutil.walk_packages(sequoia.__path__, "sequoia.", onerror=_raise)
    modules = [module.name for module in found if not module.name.endswith(".__main__")]
    for name in modules:
        importlib.import_module(name)
    return modules, {name: kind_of(getattr(sequoia, name)) for name in sequoia.__all__}


def _raise(name: str) -> None:
    """Called if a package cannot be imported. Without this function, `walk_packages` would ignore
    an ImportError and skip the package's modules."""
    raise


def kind_of(value: Any) -> str:
    if not isinstance(value, type):
        return "function" if inspect.isfunction(value) else type(value).__name__
    if dataclasses.is_dataclass(value):
        return "frozen dataclass" if value.__dataclass_params__.frozen else "dataclass"
    if getattr(value, "_is_protocol", False):
        return "protocol"
    return "exception" if issubclass(value, Exception) else "class"


def help_of(module: str) -> tuple[int, str]:
    """Exit status and output of `python -m MODULE --help`."""
    for name in [name for name in sys.modules if name.split(".")[0] == "sequoia"]:
        del sys.modules[name]
    sys.argv = [module, "--help"]
    output = io.StringIO()
    with redirect_stdout(output):
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            return int(end.code or 0), output.getvalue()
    return 0, output.getvalue()


if __name__ == "__main__":
    main(sys.argv[1:])
