"""Tests a tokenizer in a separate process. compare_tokenizers.py runs this file as a script.

The regular expressions in a tokenizer come from strangers. One that backtracks can take years on a
line of text, and compiling a bad one can use all memory. The library that runs them cannot be
interrupted, but a process can be killed.

Every line read or written is a JSON object. The script first writes one with the field `ready`. It
then reads one with the fields `tokenizer` (JSON text) and `length` (characters of the longest text
that will ever be encoded), and answers with one that has the field `passed` or `error`.
"""

from __future__ import annotations

import json
import string
import sys
from collections.abc import Iterator

from tokenizers import Tokenizer

# Strings that patterns often match repeatedly: letters, all kinds of spaces, digits, punctuation,
# other scripts, combining marks, joined emoji.
LONG = ("a", " ", "\n", "0", ".", "你")
SHORT = (
    *string.ascii_letters,
    *("aA", "a ", " a", "1", "1a", "12,", "é", "e\u0301", "\u0301", "ß", "İ", "ﷺ"),
    *("\t", "\r\n", " \n", "\u00a0", "\u3000", "\u200d", "\ufeff", "\ufffd", "\0"),
    *("'", "'s", "-", "_", "=", "(", '"', "\\", "/a", "<|", "<0x0A>", "http://"),
    *("字a", "の", "한", "ا", "א", "ไ", "🙂", "👩\u200d"),
)
# The characters that patterns may require; libraries skip a pattern if the text lacks them.
TAIL = "!b\n" + "".join(map(chr, range(32, 127)))
ENDS = ("!", "\n", "b")  # if the end does not match, a pattern tries every way to divide the text
# characters: enough for patterns with exponential or cubic times to exceed the time limit in
# compare_tokenizers.py, and few enough for usual tokenizers to encode all runs in 3 s
RUN = 5000


def texts(length: int) -> Iterator[str]:
    """Texts of at most `length` characters on which badly written patterns are often slow. `length`
    must be at least 200."""
    for unit in LONG:
        yield (unit * length)[: length - len(TAIL)] + TAIL
    for end in ENDS:
        for unit in SHORT:
            yield (unit * RUN)[: min(RUN, length - len(TAIL) - 1)] + end + TAIL


def tried(tokenizer: str, length: int) -> None:
    """Encode and decode all of `texts` with the tokenizer of this JSON text."""
    core = Tokenizer.from_str(tokenizer)
    core.no_padding()
    core.no_truncation()
    for text in texts(length):
        core.decode(core.encode(text).ids, skip_special_tokens=False)


def answer(line: str) -> dict[str, str]:
    """The answer to one line of input."""
    try:
        tried(**json.loads(line))
    except MemoryError:
        return {"error": "it takes too much memory"}
    except BaseException as problem:  # a panic in the Rust library is not an Exception
        return {"error": " ".join(str(problem).split())[:200] or type(problem).__name__}
    return {"passed": "yes"}


if __name__ == "__main__":
    print(json.dumps({"ready": True}), flush=True)
    print(json.dumps(answer(sys.stdin.readline())), flush=True)
