"""The facts about verifiers that the page needs, from their records in sequoia."""

from __future__ import annotations

from sequoia.algorithm.verifiers import RULES


def verifier_facts() -> dict[str, dict[str, str | bool]]:
    """The facts by the verifier's key; `fromLeaves` and `keepsQ` are those of Verifier."""
    return {
        rule.key: {
            "label": rule.label,
            "fromLeaves": rule.from_leaves,
            "keepsQ": rule.keeps_q,
        }
        for rule in RULES
    }
