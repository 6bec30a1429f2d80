"""Names of machines inside a sentence."""

from __future__ import annotations

import re

from sequoia.planning.named_profiles import is_clock_name

# The beginnings of names that take "an":
# - A, E, I and O ("A100"), and "Ul" and "Un" if no "i" follows ("Ultra 7");
# - 8, 11 and 18 ("8-core laptop");
# - a letter whose own name is read and begins with a vowel sound ("L40" is read "el forty").
_VOWEL = re.compile(r"[AEIOaeio]|[Uu][ln](?!i)|8|1[18](?!\d)|[FHLMNRSX](?=[A-Z0-9])")


def with_article(name: str) -> str:
    """A machine's name with "a" or "an" before it: "an A100", "a laptop"."""
    return f"{'an' if _VOWEL.match(name) else 'a'} {name}"


def machine_of(clock: str) -> str:
    """The machine of a simulated clock (a profile that predicts step times), in words that fit
    inside a sentence. clock: the field "name" of the profile. If the profile comes with the
    program, the words are the text before the first comma with an article, such as "an A100". Any
    other name was chosen by a visitor. It is returned whole, in quotation marks."""
    if is_clock_name(clock):
        return with_article(clock.split(",")[0].strip())
    return f"“{clock}”"
