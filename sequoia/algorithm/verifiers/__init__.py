"""Rules for which drafted tokens are kept: one file for each, and the one list of them.

sequoia, specinfer, top_k_match (the rules), walk (the descent that the first two share), verifier
(what a rule is to the rest of the program), verdict (what it decides).

A verifier is chosen by its key; nobody else asks which one it is. A new rule is a file here and a
place in the list.
"""

from __future__ import annotations

from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.algorithm.verifiers.top_k_match import TOP_K_MATCH
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadSamplingParams
from sequoia.validate_input import shown

VERIFIERS = {verifier.key: verifier for verifier in (SEQUOIA, SPECINFER, TOP_K_MATCH)}
DEFAULT_VERIFIER = SEQUOIA.key


def verifier_named(name: str) -> Verifier:
    """The verifier with the key `name`; BadSamplingParams lists the known ones."""
    if not isinstance(name, str) or name not in VERIFIERS:
        raise BadSamplingParams(f"unknown verifier {shown(name)}; known are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]
