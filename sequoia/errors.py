"""The errors that users see."""


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
