"""The command `python -m sequoia.sweep`: tests the causal model types of `transformers` and writes
the list of types (assets/model_types.json)."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import transformers

from sequoia.errors import SequoiaError
from sequoia.loading.model_types import FILE, KnownTypes
from sequoia.sweep.children import outcomes
from sequoia.sweep.summary import faults, not_built, summary
from sequoia.sweep.toy_configs import kinds
from sequoia.sweep.trial import Outcome
from sequoia.sweep.variants import condition
from sequoia.text_files import require_writable
from sequoia.validate_input import whole


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit status: 1 if a model decodes wrongly or crashes, 2 if an
    option is wrong, otherwise 0. The list is written only if the status is 0 and all variants of
    all types were tested."""
    try:
        options = _options(argv)
    except SequoiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    start = time.monotonic()
    found = dict(_tried(options))
    _report(found, time.monotonic() - start)
    if any(map(faults, found.values())):
        return 1
    if _is_whole(options):
        options.out.write_text(known(found).to_text() + "\n", encoding="utf-8")
    return 0


def known(found: Mapping[str, Mapping[str, Outcome]]) -> KnownTypes:
    """The list to write. found: the outcomes by type and variant."""
    types = tuple(summary(kind, one, _condition(kind)) for kind, one in sorted(found.items()))
    return KnownTypes(transformers.__version__, types)


def _condition(kind: str) -> str:
    try:
        return condition(kind)[0]
    except Exception:  # the type's own validation fails: it has no toy config
        return ""


def _options(argv: Sequence[str] | None) -> Namespace:
    options = _parser().parse_args(argv)
    if options.variants is not None:
        whole(options.variants, "--variants", 1, 1000, SequoiaError)
    whole(options.jobs, "--jobs", 1, 1000, SequoiaError)
    if _is_whole(options):
        require_writable(options.out)
    return options


def _is_whole(options: Namespace) -> bool:
    """Whether all variants of all types are tested."""
    return not options.only and options.variants is None


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "python -m sequoia.sweep",
        description="Use toy models to test which causal model types can run a token tree.",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="TYPE",
        choices=kinds(),
        help="test only these types, and do not write the list",
    )
    parser.add_argument(
        "--variants",
        type=int,
        metavar="N",
        help="test at most N variants of each type, and do not write the list (default: test all)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="number of types tested in parallel (default: %(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, default=FILE, help="file to write the list to (default: %(default)s)"
    )
    return parser


def _tried(options: Namespace) -> Iterator[tuple[str, dict[str, Outcome]]]:
    """Each type with the outcomes of its variants. Prints a line for each type."""
    chosen = options.only or kinds()
    with ThreadPoolExecutor(options.jobs) as pool:
        for kind, found in zip(
            chosen, pool.map(lambda one: outcomes(one, options.variants), chosen), strict=True
        ):
            print(f"{kind}: {_line(found)}", flush=True)
            yield kind, found


def _line(found: Mapping[str, Outcome]) -> str:
    counts = Counter(one.status for one in found.values())
    words = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    base = found["base"]
    return (
        words if base.status == "runs" else f"{words}; default config: {base.status} ({base.words})"
    )


def _report(found: Mapping[str, Mapping[str, Outcome]], seconds: float) -> None:
    types = Counter(one.result for one in known(found).types)
    every = [one for variants in found.values() for one in variants.values()]
    statuses = Counter(one.status for one in every)
    worst = max((one.distance for one in every if one.status == "runs"), default=0.0)
    print(f"\n{len(found)} types in {seconds:.0f} s: {_counted(types)}")
    print(f"{len(every)} variants: {_counted(statuses)}")
    print(f"largest difference of logits: {worst:.1g} standard deviations")
    for kind, variants in found.items():
        for name, one in not_built(variants).items():
            print(f"not built: {kind}, {name}: {one.words}")
        for name, one in faults(variants).items():
            print(f"FAULT {kind}, {name}: {one.status}, {one.words}", file=sys.stderr)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
