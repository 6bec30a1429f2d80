"""The errors that users see. The message of a rejected value names the value and the bound that it
violates."""


class SequoiaError(Exception):
    """Base class of this package's errors. The message can be shown to a visitor unchanged."""


class BadTree(SequoiaError):
    """Not a valid tree: wrong parents, not numbered breadth first, or too many nodes."""


class BadAcceptance(SequoiaError):
    """An acceptance vector with a rate outside [0, 1] or a sum above 1."""


class BadProfile(SequoiaError):
    """A hardware profile with missing, unordered or non-positive measurements."""


class BadSamplingParams(SequoiaError):
    """A setting of a run, race or test that is unknown or out of bounds."""


class BadPrompt(SequoiaError):
    """A prompt that is empty or does not fit the model's context."""


class BadTrace(SequoiaError):
    """A saved file of a run or race that is damaged, malicious or of another version, or traces
    that cannot be combined."""


class BadModel(SequoiaError):
    """A model that is unknown, unsafe to load, or unable to process a token tree."""


class BadPair(SequoiaError):
    """A draft and a target that cannot work together."""


class OutOfMemory(SequoiaError):
    """The device has too little free memory for the request. Nothing was changed."""


class BadTraining(SequoiaError):
    """A training run that cannot start or continue: unusable text, a size out of bounds, a
    checkpoint that does not match, or a loss that is not finite."""


class NotDownloaded(SequoiaError):
    """A model that cannot be downloaded from the Hub: it does not exist or is gated, there is no
    network, or the disk is full."""


class Stopped(SequoiaError):
    """The work was stopped on request. Nothing was changed."""
