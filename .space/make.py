"""Puts a Hugging Face Space together: `python .space/make.py FOLDER`. The folder then has what the
Space needs: the program without its tests, a README with the Space's settings (front_matter.yml),
and requirements with torch for a CPU. With --upload, it also becomes the content of that Space."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = Path(__file__).with_name("front_matter.yml")
NEEDED = ("app.py", "assets/", "sequoia/", "ui/")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def needed_files() -> list[str]:
    """The files of the program that git knows, from the top of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *NEEDED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.split("\0")[:-1]


def for_a_cpu(requirements: str) -> str:
    """The requirements, with the build of torch for a CPU, which is much smaller."""
    lines = [
        f"{line}+cpu" if line.startswith("torch==") else line for line in requirements.splitlines()
    ]
    return "\n".join([f"--extra-index-url {CPU_INDEX}", *lines, ""])


def make(folder: Path) -> int:
    """Fill `folder`, which must be empty or not exist. Returns the size of the content in bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty")
    for name in needed_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = SETTINGS.read_text(encoding="utf-8")
    (folder / "README.md").write_text(f"---\n{settings}---\n\n{readme}", encoding="utf-8")
    requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (folder / "requirements.txt").write_text(for_a_cpu(requirements), encoding="utf-8")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def upload(folder: Path, name: str) -> str:
    """Make `folder` the content of the Space `name`, which is created if necessary. Large files
    travel through the Hub's storage for them. Returns the Space's address."""
    from huggingface_hub import HfApi

    hub = HfApi()
    created = hub.create_repo(name, repo_type="space", space_sdk="gradio", exist_ok=True)
    hub.upload_folder(folder_path=folder, repo_id=name, repo_type="space", delete_patterns="*")
    return str(created)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="an empty folder, or one that does not exist")
    parser.add_argument("--upload", metavar="OWNER/NAME", help="the Space to fill (hf auth login)")
    options = parser.parse_args()
    size = make(options.folder)
    print(f"{options.folder}: {size / 1e6:.0f} MB, ready for a Space")
    if options.upload:
        print(f"uploaded to {upload(options.folder, options.upload)}")
    else:
        print("nothing was uploaded; --upload OWNER/NAME would create that Space and fill it")


if __name__ == "__main__":
    main()
