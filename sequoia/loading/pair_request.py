"""Which pair to load, and how: one value for the API, the commands and the page."""

from __future__ import annotations

from dataclasses import dataclass

from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.errors import BadPair
from sequoia.loading.pair_catalog import BUNDLED_NAME, Model, find, preset
from sequoia.validate_input import shown


@dataclass(frozen=True)
class Ref:
    """A model as it is asked for: a folder or a hub id. revision: its commit, read from the hub on
    `date`; "" for any."""

    name: str
    revision: str = ""
    date: str = ""


@dataclass(frozen=True)
class PairRequest:
    """A pair by name, or two models: local folders or Hugging Face ids. Raises BadPair for half a
    pair, or for a name beside two models.

    device: "auto" (CUDA where there is any; of several devices, as few as can hold the pair),
    "spread" (the target over all CUDA devices), "cpu", "cuda", "cuda:1"... dtype: "auto" (the
    faster one for each model on this machine), "float32", "bfloat16" or "float16". offload: True to
    stream from host memory those of the target's layers that do not fit the device beside all else,
    or the number of layers that stay on the device (see large/offload.py).
    """

    name: str = BUNDLED_NAME
    target: str | None = None
    draft: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    offload: bool | int = False

    def __post_init__(self) -> None:
        if (self.draft is None) != (self.target is None):
            raise BadPair(
                f"a draft and a target must be given together; given were "
                f"draft={shown(self.draft)} and target={shown(self.target)}"
            )
        if self.target is not None and self.name != BUNDLED_NAME:
            raise BadPair(
                f"give either the name of a pair or its two models, not both; given were the name "
                f"{shown(self.name)} and target={shown(self.target)}"
            )

    @property
    def is_bundled(self) -> bool:
        """Whether it asks for the pair that comes with the program."""
        return self.target is None and self.name == BUNDLED_NAME

    @property
    def models(self) -> tuple[Ref, Ref]:
        """The target and the draft. Raises BadModel for an unknown name."""
        if self.target is not None and self.draft is not None:
            return Ref(self.target), Ref(self.draft)
        if self.is_bundled:
            return Ref(str(BUNDLED_PAIR / "target")), Ref(str(BUNDLED_PAIR / "draft"))
        target, draft = preset(self.name).models
        return _pinned(target), _pinned(draft)

    @property
    def streamed(self) -> bool | int:
        """`offload`, or True where the pair of this name needs its target's layers streamed."""
        one = find(self.name)
        return bool(one and one.offload) if self.offload is False else self.offload

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"{self.target} with {self.draft}" if self.target else self.name


def _pinned(model: Model) -> Ref:
    return Ref(model.id, model.revision, model.revision_date)
