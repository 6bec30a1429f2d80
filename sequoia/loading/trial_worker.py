"""Tests a tokenizer in a separate process. try_tokenizer.py runs this file as a script.

The regular expressions in a tokenizer come from strangers. One that backtracks can take years on a
line of text, and compiling a bad one can use all memory. The library that runs them cannot be
interrupted, but a process can be killed.

Every line read or written is a JSON object. The script first writes one with the field `ready`. It
then reads objects with the fields `tokenizer` (JSON text) and `length` (characters of the longest
text that will ever be encoded). It answers each with two objects: one with `last`, the highest
token id, and then one with `passed`. If `length` is 0, the tokenizer is only opened, and the second
object is not written. If something fails, the next object has the field `error` instead and is the
last one for this input.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from tokenizers import Tokenizer

# Strings that patterns often match repeatedly: letters, all kinds of spaces, digits, punctuation,
# other scripts, combining marks, joined emoji.
LONG = ("a", " ", "\n", "0", ".", "你")
SHORT = (
    *("A", "aA", "a ", " a", "x", "1a", "12,", "é", "e\u0301", "\u0301", "ß", "İ", "ﷺ"),
    *("\t", "\r\n", " \n", "\u00a0", "\u3000", "\u200d", "\ufeff", "\ufffd", "\0"),
    *("'", "'s", "-", "_", "=", "(", '"', "\\", "/a", "<|", "<0x0A>", "http://"),
    *("字a", "の", "한", "ا", "א", "ไ", "🙂", "👩\u200d"),
)
PRINTED = "".join(map(chr, range(32, 127)))
ENDS = ("!", "\n", "b")  # if the end does not match, a pattern tries every way to divide the text
# characters: enough for patterns with exponential or cubic times to exceed the time limit in
# try_tokenizer.py, and few enough for usual tokenizers to encode all runs in 2 s
RUN = 5000
_LITERAL = re.compile(r"[^\W_]|\\u([0-9a-fA-F]{4})")
_MOST_LITERALS = 64


def texts(length: int, patterns: str) -> Iterator[str]:
    """Texts of at most `length` characters on which badly written patterns are often slow. Some
    texts repeat a character from `patterns`. `length` must be at least 200."""
    known = literals(patterns)
    # the characters that patterns may require; libraries skip a pattern if the text lacks them
    tail = "!b\n" + "".join(known) + PRINTED
    for unit in LONG:
        yield (unit * length)[: length - len(tail)] + tail
    for end in ENDS:
        for unit in (*SHORT, *known):
            yield (unit * RUN)[: min(RUN, length - len(tail) - 1)] + end + tail


def literals(patterns: str) -> list[str]:
    """The distinct letters and digits in `patterns`, and the characters written there as \\u codes.
    They are in order of appearance, at most 64."""
    found = (chr(int(one[1], 16)) if one[1] else one[0] for one in _LITERAL.finditer(patterns))
    return list(dict.fromkeys(one for one in found if not "\ud800" <= one <= "\udfff"))[
        :_MOST_LITERALS
    ]


def patterns_in(tokenizer: Tokenizer) -> str:
    """All regular expressions and literal patterns of a tokenizer's normalizer, pre-tokenizer and
    decoder, joined by spaces."""
    parts = [tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder]
    written = " ".join(part.__getstate__().decode("utf-8") for part in parts if part is not None)
    return " ".join(re.findall(r'"(?:Regex|String)":"((?:[^"\\]|\\.)*)"', written))


def tried(text: str, length: int) -> Iterator[dict[str, Any]]:
    """Test the tokenizer with the JSON `text`. Yields a message when the tokenizer is open. Unless
    `length` is 0, yields another when it has encoded and decoded all of `texts`."""
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    yield {"last": max(tokenizer.get_vocab().values(), default=0)}
    if length:
        for one in texts(length, patterns_in(tokenizer)):
            tokenizer.decode(tokenizer.encode(one).ids, skip_special_tokens=False)
        yield {"passed": True}


def answers(line: str) -> Iterator[dict[str, Any]]:
    """The answers to one line of input."""
    try:
        asked = json.loads(line)
        yield from tried(asked["tokenizer"], asked["length"])
    except MemoryError:
        yield {"error": "it takes too much memory"}
    except GeneratorExit:
        raise
    except BaseException as problem:  # a panic in the Rust library is not an Exception
        yield {"error": " ".join(str(problem).split())[:200] or type(problem).__name__}


if __name__ == "__main__":
    print(json.dumps({"ready": True}), flush=True)
    for asked in sys.stdin:
        for news in answers(asked):
            print(json.dumps(news), flush=True)
