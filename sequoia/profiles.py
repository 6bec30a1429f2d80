"""Predict the best tree and the best chain for each hardware profile that comes with the program:
`python -m sequoia.profiles`.

They are planned from the acceptance recorded for the bundled pair. Runs no model and measures
nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.bench.command import option_parser, reports_errors
from sequoia.errors import BadAcceptance
from sequoia.loading.load import recorded_acceptances
from sequoia.planning.named_profiles import named_profile, profile_names
from sequoia.planning.plan_for_machine import Plan, best_chain, best_plan

_HEADS = (
    "profile",
    "times",
    "nodes",
    "levels",
    "speed-up",
    "chain",
    "chain's speed-up",
    "checked up to",
)


@dataclass(frozen=True)
class ReadyPlan:
    """The plans for the profile `name`. source: where the profile's times come from. calibrated:
    nodes of the largest tree whose time was measured or compared with a measurement; 0 if there is
    none."""

    name: str
    source: str
    calibrated: int
    tree: Plan
    chain: Plan


def ready_plans(acceptance: Acceptance, names: Iterable[str] | None = None) -> list[ReadyPlan]:
    """The fastest tree and the fastest chain for each of the profiles `names`, by default
    those of `profile_names`."""
    found = []
    for name in profile_names() if names is None else names:
        profile = named_profile(name)
        tree = best_plan(acceptance, profile)
        chain = best_chain(acceptance, profile)
        found.append(ReadyPlan(name, profile.source, profile.calibrated_up_to, tree, chain))
    return found


def table(plans: Sequence[ReadyPlan]) -> str:
    """`plans` as a Markdown table."""
    rows = [_HEADS, ("---",) * len(_HEADS), *map(_cells, plans)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def recorded(kind: str, temperature: float) -> Acceptance:
    """The bundled pair's acceptance recorded for this kind of text and temperature. Raises
    BadAcceptance if none is recorded for them."""
    known = recorded_acceptances(BUNDLED_PAIR / "acceptance.json")
    for one in known:
        if (one.kind, one.temperature) == (kind, temperature):
            return one.acceptance
    choices = ", ".join(f"{one.kind} {one.temperature:g}" for one in known)
    raise BadAcceptance(
        f"no acceptance recorded for {kind} at temperature {temperature:g}; choose one of {choices}"
    )


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    parser = option_parser("python -m sequoia.profiles", __doc__)
    parser.add_argument("--kind", default="code", help="kind of text: code or prose")
    parser.add_argument("--temperature", type=float, default=0.6, help="sampling temperature")
    parser.add_argument(
        "--profile", action="append", help="plan only for this profile (may be repeated)"
    )
    given = parser.parse_args(argv)
    plans = ready_plans(recorded(given.kind, given.temperature), given.profile)
    print(f"Speed-ups over plain decoding, predicted; {given.kind}, T = {given.temperature:g}.\n")
    print(table(plans))


def _cells(plan: ReadyPlan) -> tuple[str, ...]:
    return (
        plan.name,
        plan.source,
        str(len(plan.tree.tree)),
        str(plan.tree.tree.levels),
        f"{plan.tree.predicted_speedup:.2f}x",
        _nodes(len(plan.chain.tree)),
        f"{plan.chain.predicted_speedup:.2f}x",
        _nodes(plan.calibrated) if plan.calibrated else "not checked",
    )


def _nodes(count: int) -> str:
    return f"{count} node{'s' * (count != 1)}"


if __name__ == "__main__":
    sys.exit(main())
