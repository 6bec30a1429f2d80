"""Tests a tokenizer in a separate process, run as a script by try_tokenizer.py. Its patterns were
written by strangers.

A pattern that backtracks can take years for a line of text, a bad one can take all memory when it
is compiled, and the library that runs them cannot be stopped; a process can. A line in: {tokenizer,
length}; out: {last}, the greatest id of a piece, then {passed}, or {error}. length: characters of
the longest text that will ever be encoded, 0 to only open the tokenizer.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from tokenizers import Tokenizer

# What patterns count and repeat: letters, all kinds of spaces, digits, punctuation, scripts without
# spaces, combining marks, joined emoji.
LONG = ("a", " ", "\n", "0", ".", "你")
SHORT = (
    *("A", "aA", "a ", " a", "x", "1a", "12,", "é", "e\u0301", "\u0301", "ß", "İ", "ﷺ"),
    *("\t", "\r\n", " \n", "\u00a0", "\u3000", "\u200d", "\ufeff", "\ufffd", "\0"),
    *("'", "'s", "-", "_", "=", "(", '"', "\\", "/a", "<|", "<0x0A>", "http://"),
    *("字a", "の", "한", "ا", "א", "ไ", "🙂", "👩\u200d"),
)
PRINTED = "".join(map(chr, range(32, 127)))
ENDS = ("!", "\n", "b")  # where its end does not match, a pattern tries every way to divide a text
RUN = 400  # characters: enough to expose exponential and quadratic times
_LITERAL = re.compile(r"[^\W_]|\\u([0-9a-fA-F]{4})")
_MOST_LITERALS = 64


def texts(length: int, patterns: str) -> Iterator[str]:
    """Texts of at most `length` characters that are hard for patterns in general and for those in
    `patterns` in particular."""
    known = literals(patterns)
    # libraries skip a pattern whose required letters are nowhere in the text
    tail = "!b\n" + "".join(known) + PRINTED
    for unit in LONG:
        yield (unit * length)[: length - len(tail)] + tail
    for end in ENDS:
        runs = "".join((unit * RUN)[:RUN] + end for unit in (*SHORT, *known))
        yield runs[: length - len(tail)] + tail


def literals(patterns: str) -> list[str]:
    """Letters and digits in patterns, in order."""
    found = (chr(int(one[1], 16)) if one[1] else one[0] for one in _LITERAL.finditer(patterns))
    return list(dict.fromkeys(one for one in found if not "\ud800" <= one <= "\udfff"))[
        :_MOST_LITERALS
    ]


def patterns_in(tokenizer: Tokenizer) -> str:
    """All regular expressions of a tokenizer, joined by spaces."""
    parts = [tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder]
    written = " ".join(part.__getstate__().decode("utf-8") for part in parts if part is not None)
    return " ".join(re.findall(r'"(?:Regex|String)":"((?:[^"\\]|\\.)*)"', written))


def tried(text: str, length: int) -> Iterator[dict[str, Any]]:
    """The messages of a test: the tokenizer is open; it has encoded and decoded hard texts. Raises
    whatever the library raises."""
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
    except BaseException as problem:  # panics of the library are no Exception
        yield {"error": " ".join(str(problem).split())[:200] or type(problem).__name__}


if __name__ == "__main__":
    print(json.dumps({"ready": True}), flush=True)
    for asked in sys.stdin:
        for news in answers(asked):
            print(json.dumps(news), flush=True)
