"""The compiled library: kept in a folder that only its user may write to, and never required."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fakes import tiny_model, tree_logits

from sequoia.models.choose_forward import use_fast_forward, use_rounded_weights
from sequoia.models.native import library
from sequoia.models.native.library import NoLibrary, native_library
from sequoia.models.native.native_llama import NativeLlama
from sequoia.models.tree_forward import TreeModel

TILES = Path(__file__).with_name("emulated_tiles.h")


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("SEQUOIA_NATIVE", raising=False)
    native_library.cache_clear()
    yield
    native_library.cache_clear()


def model() -> TreeModel:
    return TreeModel(tiny_model("llama", head_dim=16), "llama")


def fake_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    monkeypatch.setenv("CXX", str(path))


def test_without_a_compiler_the_usual_fast_forward_runs_and_the_model_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    one = use_fast_forward(model())
    assert one.forward_name == "fast"
    assert one.not_the_fastest == "no C++ compiler was found (looked for no-such-compiler)"


def test_a_compiler_that_fails_is_named_with_its_first_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler(tmp_path, monkeypatch, "echo 'error: too old' >&2; exit 1")
    with pytest.raises(NoLibrary, match="compiler failed: error: too old"):
        native_library()


def test_a_file_that_is_no_library_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = (
        'while [ "$1" != "-o" ] && [ $# -gt 1 ]; do shift; done; [ "$1" = "-o" ] && echo x > "$2"'
    )
    fake_compiler(tmp_path, monkeypatch, f"{write}; exit 0")
    with pytest.raises(NoLibrary, match="cannot be loaded"):
        native_library()


def test_it_is_not_compiled_where_that_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public server may use what its owner compiled before, and compiles nothing."""
    monkeypatch.setattr(library, "_command", lambda: ["true"])
    library.do_not_compile()
    with pytest.raises(NoLibrary, match="was not compiled before"):
        native_library()


def test_a_folder_that_others_may_write_to_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_command", lambda: ["true"])
    folder = tmp_path / "sequoia"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(NoLibrary, match="others may write"):
        native_library()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "tuned", [*(f"-march=x86-64-v{i}" for i in (2, 3, 4)), "-march=native", f"-include {TILES}"]
)
def test_all_instruction_sets_give_the_same_logits(
    tuned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "v4" in tuned and not torch.cpu._is_avx512_supported():
        pytest.skip("this CPU has no AVX-512")
    try:
        command = library._command()
    except NoLibrary as problem:
        pytest.skip(str(problem))
    monkeypatch.setattr(library, "_command", lambda: [*command, *tuned.split()])
    one = TreeModel(tiny_model("qwen3", head_dim=32), "qwen3")
    expected = tree_logits(one)
    for dtype, far in ((torch.float32, 1e-5), (torch.bfloat16, 0.02)):
        native = NativeLlama(one.hf, dtype, native_library())
        for forward, bound in ((native, far), (native.rounded(one.hf), 0.1)):
            one.forward = forward
            assert (tree_logits(one) - expected).abs().mean() < bound


def test_rounded_weights_that_are_wrong_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = NativeLlama._matrix

    def wrong(self: NativeLlama, name: str, weight: torch.Tensor) -> dict[str, Any]:
        found = usual(self, name, weight)
        scales = f"{name}_scales"
        return {**found, scales: found[scales] * 0 + 1e-3} if self.is_rounded else found

    draft = use_fast_forward(TreeModel(tiny_model("llama", head_dim=32), "draft"))
    if not isinstance(draft.forward, NativeLlama):
        pytest.skip(draft.not_the_fastest or draft.no_fast_forward)
    assert use_rounded_weights(draft, draft).forward.is_rounded
    draft = use_fast_forward(TreeModel(tiny_model("llama", head_dim=32), "draft"))
    monkeypatch.setattr(NativeLlama, "_matrix", wrong)
    assert not use_rounded_weights(draft, draft).forward.is_rounded
    assert "cannot run a tree" in draft.not_the_fastest
