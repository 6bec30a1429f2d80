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
        *(ID, f" {ID}\n", f'"{ID}"', f"'{ID}'", f"`{ID}`", f"“{ID}”", f'"{ID}",', f"{ID}/"),
        *(f"\u200b{ID}\u00a0", f"<{HUB}/{ID}>", f'" {HUB}/{ID} "', f"{ID}@main"),
        *(f"{HUB}/{ID}", f"{HUB}/{ID}/", f"http://huggingface.co/{ID}", f"huggingface.co/{ID}"),
        *(f"https://hf.co/{ID}", f"hf.co/{ID}", f"www.huggingface.co/{ID}", f"hf://{ID}"),
        *(f"HTTPS://HuggingFace.co/{ID}", f"https://hf-mirror.com/{ID}", f"//hf.co/{ID}"),
        *(f"{HUB}/{ID}/tree/main", f"{HUB}/{ID}/tree/main/", f"{ID}/tree/main"),
        *(f"{HUB}/{ID}/blob/main/config.json", f"{HUB}/{ID}/resolve/main/model.safetensors"),
        *(f"{HUB}/{ID}?library=transformers", f"{HUB}/{ID}#usage", f"{HUB}/{ID}/discussions/3"),
        *(f"{HUB}/api/models/{ID}", f"https://me:secret@huggingface.co/{ID}", f"hf://models/{ID}"),
        *(f"{HUB}/{ID}.git", f"git@hf.co:{ID}.git", f"{HUB}/{ID}/commits/main"),
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
    for written in (f"{folder}", "~/my model", f" {folder}/ ", f'"{folder}"', f"file://{folder}"):
        assert Path(checked_name(written)) == folder
    assert checked_name("my model") == "my model"
    assert checked_name(folder) == str(folder)


@pytest.mark.parametrize("name", [" blank ", "'quoted'", "a:b", "a@b", "x.gguf", "datasets", "~x"])
def test_a_folder_of_an_odd_name_is_that_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert checked_name(name) == name


@pytest.mark.parametrize(
    ("written", "cause"),
    [
        (f"{ID}:Q4_K_M", r"ends in a tag, .*quantised GGUF.*without a tag"),
        ("llama3.2:1b", "ends in a tag"),
        ("model.gguf", "is a GGUF file"),
        (f"{HUB}/{ID}/blob/main/x.Q4_K_M.gguf", "is a GGUF file"),
        ("/no/model.safetensors", "is neither a folder nor"),
        (f"{HUB}/datasets/squad", "an address of the hub that shows no model"),
        (HUB, "names no model"),
        (f"{ID}@v1.0", "names a revision; .*hf download"),
        (f"{HUB}/{ID}/tree/v1.0", f"names a revision or a sub-folder of {ID}; .*hf download {ID}"),
        (f"{HUB}/{ID}/tree/main/original", f"names a revision or a sub-folder of {ID}"),
        ("https://github.com/owner/name", "an address elsewhere"),
        ("C:\\models\\llama", r"^'C:\\models\\llama' is neither a folder"),
        ("~/nowhere", "/nowhere' is neither a folder nor a Hugging Face id"),
        ("~nobody-here/x", "neither a folder nor a Hugging Face id"),
    ],
)
def test_the_rest_is_refused_with_its_cause(written: str, cause: str) -> None:
    with pytest.raises(BadModel, match=cause) as caught:
        checked_name(written)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "pytorch_model.bin", "x.zip"])
def test_a_file_is_refused_with_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(BadModel, match=f"is a file; give the model's folder, '{tmp_path}'"):
        checked_name(str(tmp_path / name))


def test_a_file_is_found_before_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weights.bin").write_bytes(b"")
    with pytest.raises(BadModel, match=r"is a file; give the model's folder, '\.'"):
        checked_name("weights.bin")


def test_a_pair_has_the_names_that_are_meant() -> None:
    request = PairRequest(target=f"{HUB}/{ID}", draft=" 'gpt2' ")
    assert request.models == (ID, "gpt2")
    with pytest.raises(BadModel, match="is a GGUF file"):
        _ = PairRequest(target=ID, draft="x.gguf").models
    with pytest.raises(BadPair):
        PairRequest(target=ID)
