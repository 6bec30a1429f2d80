"""The errors a person can cause. Every message names the value that was refused and
the bound it broke."""


class SequoiaError(Exception):
    """Base of everything this package refuses; its text is fit to be shown to a visitor."""


class BadTree(SequoiaError):
    """A tree that is no tree, is not breadth first, or is too large."""


class BadAcceptance(SequoiaError):
    """An acceptance vector with a rate outside [0, 1] or a sum above 1."""


class BadProfile(SequoiaError):
    """A hardware profile with missing, unordered or non-positive measurements."""


class BadSamplingParams(SequoiaError):
    """A decoding setting that is not a finite number inside its bounds."""


class BadPrompt(SequoiaError):
    """A prompt that is empty or does not fit the model's context."""


class BadTrace(SequoiaError):
    """A run file that is damaged, hostile or of another version."""


class BadModel(SequoiaError):
    """A model that is unknown, unsafe to load, or cannot run a tree."""


class BadPair(SequoiaError):
    """A draft and a target that cannot work together."""


class OutOfMemory(SequoiaError):
    """The device has too little free memory for the request; nothing was changed."""


class BadTraining(SequoiaError):
    """A training run that cannot be made: unusable text, a size out of range, or a checkpoint
    that does not fit."""


class NotDownloaded(SequoiaError):
    """A model that cannot be had from the hub: no such one, gated, no network, no
    room on the disk."""


class Stopped(SequoiaError):
    """Whoever asked for it has stopped it; nothing was changed."""
