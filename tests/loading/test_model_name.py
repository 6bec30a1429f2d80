"""What people write for a model: what is understood, and what is refused with its cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequoia.errors import BadModel, BadPair
from sequoia.loading.pair_request import PairRequest, checked_name

HUB = "https://huggingface.co"
ID = "Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    "written",
    [
        *(ID, f" {ID}\n", f'"{ID}"', f"“{ID}”", f'"{ID}",', f"\u200b{ID}\u00a0"),
        *(f"{HUB}/{ID}", f"{HUB}/{ID}/", f"<{HUB}/{ID}>", f"hf.co/{ID}", f"{HUB}/{ID}/tree/main"),
    ],
)
def test_an_id_is_understood(written: str) -> None:
    assert checked_name(written) == ID
    assert checked_name(checked_name(written)) == ID


@pytest.mark.parametrize("written", ["gpt2", f"{HUB}/gpt2", f"{HUB}/gpt2/tree/main"])
def test_an_id_without_an_owner_is_understood(written: str) -> None:
    assert checked_name(written) == "gpt2"


def test_a_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my model"
    folder.mkdir()
    for written in (f"{folder}", "~/my model", f" {folder}/ ", f'"{folder}"'):
        assert Path(checked_name(written)) == folder
    assert checked_name("my model") == "my model"
    assert checked_name(folder) == str(folder)


@pytest.mark.parametrize("name", [" blank ", "'quoted'", "a:b", "x.gguf", "~x"])
def test_a_folder_of_an_odd_name_is_that_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert checked_name(name) == name


@pytest.mark.parametrize(
    ("written", "cause"),
    [
        (f"{ID}:Q4_K_M", "is neither a folder nor"),
        (f"{ID}@v1.0", "is neither a folder nor"),
        (f"{HUB}/{ID}/tree/v1.0", "is neither a folder nor"),
        ("https://github.com/owner/name", "is neither a folder nor"),
        ("~nobody-here/x", "is neither a folder nor"),
        ("a\0b", "is neither a folder nor"),
        ("model.gguf", "is a GGUF file"),
        (__file__, "is neither a folder nor"),
    ],
)
def test_the_rest_is_refused(written: str, cause: str) -> None:
    with pytest.raises(BadModel, match=cause) as caught:
        checked_name(written)
    assert len(str(caught.value)) < 500


def test_a_pair_has_the_names_that_are_meant() -> None:
    request = PairRequest(target=f"{HUB}/{ID}", draft=" 'gpt2' ")
    assert request.models == (ID, "gpt2")
    with pytest.raises(BadModel, match="is a GGUF file"):
        _ = PairRequest(target=ID, draft="x.gguf").models
    with pytest.raises(BadPair):
        PairRequest(target=ID)
