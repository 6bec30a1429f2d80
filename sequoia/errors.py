"""The errors that users see, and those of other libraries in plain words."""

from __future__ import annotations

import re


class SequoiaError(Exception):
    """Base class of this package's errors. The message can be shown to a visitor unchanged."""


class BadTree(SequoiaError):
    """Not a valid tree (wrong parents, not numbered breadth first, too many nodes), or a size or
    other setting of trees that is unknown or out of bounds."""


class BadAcceptance(SequoiaError):
    """An acceptance vector that is wrong (a rate outside [0, 1], a sum above 1), missing, or not
    usable for what was asked; or a setting for making or measuring vectors that is out of
    bounds."""


class BadProfile(SequoiaError):
    """A hardware profile that is wrong or does not exist, or a setting of a measurement that is out
    of bounds."""


class BadSamplingParams(SequoiaError):
    """A setting of a run, race, test or acceptance measurement that is unknown or out of bounds."""


class BadPrompt(SequoiaError):
    """A prompt that is missing or cannot be used, for example because it is empty or does not fit
    the model's context."""


class BadTrace(SequoiaError):
    """A saved run, race or experiment that is damaged, malicious, of another version or no longer
    there; a race that cannot go on; or traces that are empty or cannot be combined."""


class BadModel(SequoiaError):
    """A model that is unknown, damaged, unsafe to load, or unable to process a token tree; a device
    or dtype that does not exist; or output of a model that is not finite or not in its
    vocabulary."""


class BadPair(SequoiaError):
    """A draft and a target that cannot work together, or a request that does not name exactly one
    pair."""


class OutOfMemory(SequoiaError):
    """A device has too little memory for the request."""


class NotDownloaded(SequoiaError):
    """A model that cannot be downloaded from the Hub, for example because it does not exist or is
    gated, there is no network, or the disk is full."""


class Stopped(SequoiaError):
    """The work was stopped on request."""


class BadLog(SequoiaError):
    """A log of another engine without numbers that can be read, or with impossible ones."""


# -- the errors of other libraries, for the end of a sentence --------------------------------------


_MAX_CHARS = 200
# names of error classes, and the beginnings of validation errors of a model's config
_PREFIX = re.compile(
    r"(?:\b\w*(?:Error|Exception|Errors): |Validation error for field '[^']*': "
    r"|Class validation error for validator '[^']*': )"
)
_CLASS = re.compile(r"<class '([\w.]+)'>")
_NEXT_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'(])|Please (?=[a-z])")
# a field of a model's config with a value of the wrong type
_FIELD = re.compile(
    r"Field '(\w+)' (?:expected \S+, got \S+ \(value: (.{1,60}).*\)"
    r"|with value (.{1,60}?) doesn't match any type .*)"
)
# words of Python's own errors, which would mean nothing to a visitor
_INTERNAL = re.compile(
    r"\bobject\b|NoneType|\bargument|operand|\bindices\b|unhashable|recursion|modulo|division"
    r"|out of range|has no attribute|[(]\): |\bslice"
)


def reason(problem: BaseException) -> str:
    """Why `problem` occurred, without names of error classes or advice for programmers."""
    text = " ".join(
        str(problem.args[0] if isinstance(problem, KeyError) and problem.args else problem).split()
    )
    if isinstance(problem, KeyError) and text.isidentifier():
        return f"{text!r} is missing or not supported by the library"
    if isinstance(problem, MemoryError) or "out of memory" in text:  # from Python or CUDA
        return "there is not enough memory"
    if field := _FIELD.search(text):
        return f"its {field[1]} is {field[2] or field[3]}, which has the wrong type"
    text = _first_sentence(text)
    if not text:
        return "the library gives no reason"
    if _INTERNAL.search(text):
        return "the library cannot handle one of its values"
    return text


def panicked(problem: BaseException) -> bool:
    """Whether `problem` is a panic of a library written in Rust. Panics do not inherit from
    `Exception`."""
    return type(problem).__name__ == "PanicException"


def _first_sentence(text: str) -> str:
    text = _CLASS.sub(r"\1", _PREFIX.sub("", text))
    first = _NEXT_SENTENCE.split(text, maxsplit=1)[0].rstrip(".,:; ")
    return first if len(first) <= _MAX_CHARS else f"{first[:_MAX_CHARS].rpartition(' ')[0]} ..."
