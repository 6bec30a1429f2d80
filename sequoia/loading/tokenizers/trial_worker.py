"""Tries a tokenizer in a process of its own, run as a script by tokenizer_trial.py. Its patterns
were written by strangers.

A pattern that backtracks can take years for a line of text, one that is badly written can take all
memory as it is compiled, and the library that runs them cannot be stopped; a process can. A line
in: {tokenizer, length}; out: {last}, the greatest number of a piece, then {passed}, or {error}.
length: characters of the longest text that will ever be encoded, 0 to only open the tokenizer.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from tokenizers import Tokenizer

# What patterns count and repeat: letters, space of each kind, digits, signs, scripts without
# spaces, marks, joined pictures.
LONG = ("a", " ", "\n", "0", ".", "你")
SHORT = (
    *("A", "aA", "a ", " a", "x", "1a", "12,", "é", "e\u0301", "\u0301", "ß", "İ", "ﷺ"),
    *("\t", "\r\n", " \n", "\u00a0", "\u3000", "\u200d", "\ufeff", "\ufffd", "\0"),
    *("'", "'s", "-", "_", "=", "(", '"', "\\", "/a", "<|", "<0x0A>", "http://"),
    *("字a", "の", "한", "ا", "א", "ไ", "🙂", "👩\u200d"),
)
PRINTED = "".join(map(chr, range(32, 127)))
ENDS = ("!", "\n", "b")  # a pattern that finds no end tries every way to divide what came before
RUN = 400  # characters: enough for what doubles or squares with each of them
_LITERAL = re.compile(r"[^\W_]|\\u([0-9a-fA-F]{4})")
_MOST_LITERALS = 64


def texts(length: int, patterns: str) -> Iterator[str]:
    """Texts of at most `length` characters that are hard for patterns in general and for those in
    `patterns` in particular."""
    known = literals(patterns)
    tail = (
        "!b\n" + "".join(known) + PRINTED
    )  # libraries skip the work where a letter that a match needs is nowhere in the text
    for unit in LONG:
        yield (unit * length)[: length - len(tail)] + tail
    for end in ENDS:
        runs = "".join((unit * RUN)[:RUN] + end for unit in (*SHORT, *known))
        yield runs[: length - len(tail)] + tail


def literals(patterns: str) -> list[str]:
    """Letters and digits that stand in patterns, in the order in which they come."""
    found = (chr(int(one[1], 16)) if one[1] else one[0] for one in _LITERAL.finditer(patterns))
    return list(dict.fromkeys(one for one in found if not "\ud800" <= one <= "\udfff"))[
        :_MOST_LITERALS
    ]


def patterns_in(tokenizer: Tokenizer) -> str:
    """All regular expressions of a tokenizer, one after the other."""
    parts = [tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder]
    written = " ".join(part.__getstate__().decode("utf-8") for part in parts if part is not None)
    return " ".join(re.findall(r'"(?:Regex|String)":"((?:[^"\\]|\\.)*)"', written))


def tried(text: str, length: int) -> Iterator[dict[str, Any]]:
    """News of a trial: the tokenizer is open, and it has gone through hard texts, there and back.
    Raises whatever the library raises."""
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    yield {"last": max(tokenizer.get_vocab().values(), default=0)}
    if length:
        for one in texts(length, patterns_in(tokenizer)):
            tokenizer.decode(tokenizer.encode(one).ids, skip_special_tokens=False)
        yield {"passed": True}


def answers(line: str) -> Iterator[dict[str, Any]]:
    try:
        asked = json.loads(line)
        yield from tried(asked["tokenizer"], asked["length"])
    except MemoryError:
        yield {"error": "it takes too much memory"}
    except GeneratorExit:
        raise
    except (
        BaseException
    ) as problem:  # the library also raises what Python does not count among exceptions
        yield {"error": " ".join(str(problem).split())[:200] or type(problem).__name__}


if __name__ == "__main__":
    print(json.dumps({"ready": True}), flush=True)
    for asked in sys.stdin:
        for news in answers(asked):
            print(json.dumps(news), flush=True)
