"""Parts that several commands share: option parser, error messages, JSON files, prompts."""

from __future__ import annotations

import json
import sys
from argparse import Action, ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from sequoia.errors import SequoiaError
from sequoia.text_files import load_json, write_text, writing


def option_parser(prog: str, doc: str | None) -> ArgumentParser:
    """A parser whose description is the first line of `doc`. If that line ends with a colon and a
    command in backticks, both are left out."""
    description = str(doc).split("\n")[0].split(": `")[0].rstrip(".") + "."
    return ArgumentParser(prog, description=description, formatter_class=_Defaults)


class _Defaults(ArgumentDefaultsHelpFormatter):
    """Adds the default to the help of an option. Flags, options without a default, and help that
    already contains "(default:" are unchanged."""

    def _get_help_string(self, action: Action) -> str | None:
        words = action.help or ""
        if action.default is None or isinstance(action.default, bool) or "(default:" in words:
            return words
        if isinstance(action.default, list | tuple):
            return f"{words} (default: {' '.join(map(str, action.default))})".strip()
        return super()._get_help_string(action)


def add_pair_options(parser: ArgumentParser) -> None:
    """The options that choose the two models."""
    for name, other in (("target", "draft"), ("draft", "target")):
        default = f"the bundled pair; this option needs --{other} too"
        parser.add_argument(
            f"--{name}", help=f"folder or Hugging Face id of the {name} (default: {default})"
        )


def reports_errors(command: Callable[[Sequence[str] | None], None]) -> Callable[..., int]:
    """`command` as a function that returns an exit status: 0, or 2 after a SequoiaError, which it
    prints to stderr."""

    @wraps(command)
    def main(argv: Sequence[str] | None = None) -> int:
        try:
            command(argv)
        except SequoiaError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        return 0

    return main


def write_json(path: Path, data: Any) -> None:
    """Write `data` to `path`, creating its folder if needed. Raises a SequoiaError if that
    fails."""
    with writing(path):
        write_text(path, json.dumps(data, indent=1) + "\n")


def text_list(name: str, folder: Path) -> list[str]:
    """The texts in `folder`/`name`.json or, if there is no such file, in the JSON file `name`: a
    list of texts, or named prompts (see assets/prompts.json). Raises SequoiaError unless there is
    at least one text."""
    bundled = folder / f"{name}.json"
    path = bundled if bundled.is_file() else Path(name)
    try:
        texts = load_json(path)
    except (OSError, ValueError) as problem:
        known = ", ".join(sorted(file.stem for file in folder.glob("*.json")))
        raise SequoiaError(
            f"--prompts {name!r} is neither a bundled list ({known}) nor a JSON file with a list "
            f"of texts: {problem}"
        ) from None
    if isinstance(texts, dict) and isinstance(texts.get("prompts"), list):
        texts = [one.get("text") for one in texts["prompts"]]
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise SequoiaError(f"{path} must contain a JSON list of at least one text")
    return texts
