"""Finds the sources of text for training and evaluation: the standard library, installed packages
and documentation, each with its licence."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..errors import BadTraining

ROOT_REQUIREMENTS = (
    "torch",
    "transformers",
    "accelerate",
    "gradio",
    "plotly",
    "networkx",
    "psutil",
)
FREE = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|PSF|Python Software Foundation|ISC|BSL-1\.0|PostgreSQL|Expat"
    r"|public domain|Zlib|CC0|Unlicense|Artistic)\b",
    re.IGNORECASE,
)
NOT_FREE_ENOUGH = re.compile(
    r"\b((A?L?GPL|MPL|EUPL)(-?v?\d[\d.]*)?|General Public License|Mozilla|CC-BY-SA|proprietary)\b",
    re.IGNORECASE,
)
KEPT_OUT = frozenset({"flask", "werkzeug", "requests", "attrs", "trio", "black", "httpie"})
SKIPPED_FOLDERS = frozenset(
    {
        "__pycache__",
        "site-packages",
        "dist-packages",
        "lib2to3",
        "idlelib",
        "turtledemo",
        "_vendor",
        "vendor",
        "vendored",
        "_vendored",
        "third_party",
        "externals",
        "_externals",
        "extern",
        "_extern",
        "vendored_packages",
        "thirdparty",
        "_thirdparty",
        "locale",
        "locales",
        "migrations",
        "alembic",
        "alembic_migrations",
    }
)
SKIPPED_NAMES = ("bad_", "badsyntax_")  # prefixes of test files with intentional errors
TEST_FOLDERS = frozenset({"test", "tests", "_tests", "testing", "unit_tests", "benchmarks"})
SKIPPED_PAGES = frozenset(
    {
        "_sources",
        "_modules",
        "_static",
        "_images",
        "_downloads",
        "_api",
        "src",
        "genindex.html",
        "search.html",
        "py-modindex.html",
        "modindex.html",
        "generated",
    }
)


@dataclass(frozen=True)
class Source:
    """The standard library, one distribution of Python code, or one documentation package.

    kind: "code" or "prose". root: the folder that contains the files. files: sorted paths.
    is_kept_out: no model is trained on its text, so that models can be evaluated on it.
    is_required: this project depends on it.
    """

    name: str
    version: str
    licence: str
    kind: str
    root: Path
    files: tuple[Path, ...]
    is_kept_out: bool = False
    is_required: bool = False


@dataclass(frozen=True)
class Manual:
    """A documentation package and its licence.

    has_python: whether its examples are Python code; if so, they are included. is_kept_out: as in
    Source. globs: patterns for the pages with English text. skipped: names of folders that contain
    only API reference.
    """

    package: str
    licence: str
    has_python: bool = False
    is_kept_out: bool = False
    globs: tuple[str, ...] = ("**/*.html",)
    skipped: tuple[str, ...] = ("api",)


MANUALS = (
    Manual("python-flask-doc", "BSD-3-Clause", True, True),
    Manual("python-requests-doc", "Apache-2.0", True, True),
    Manual("python-werkzeug-doc", "BSD-3-Clause", True, True),
    Manual("python-attr-doc", "MIT", True, True),
    Manual("golang-1.19-doc", "BSD-3-Clause", False, True),
    Manual("python3.11-doc", "PSF-2.0", True),
    Manual("python-django-doc", "BSD-3-Clause", True),
    Manual("python-sqlalchemy-doc", "MIT", True),
    Manual("python-tornado-doc", "Apache-2.0", True),
    Manual("python-jinja2-doc", "BSD-3-Clause", True),
    Manual("sphinx-doc", "BSD-2-Clause", True),
    Manual("twisted-doc", "MIT", True),
    Manual("python-scipy-doc", "BSD-3-Clause", True),
    Manual("python-sklearn-doc", "BSD-3-Clause", True),
    Manual("python-pandas-doc", "BSD-3-Clause", True),
    Manual("python-xarray-doc", "Apache-2.0", True),
    Manual("python-dask-doc", "BSD-3-Clause", True),
    Manual("python-astropy-doc", "BSD-3-Clause", True),
    Manual("python-statsmodels-doc", "BSD-3-Clause", True),
    Manual("python-sympy-doc", "BSD-3-Clause", True),
    Manual("nova-doc", "Apache-2.0"),
    Manual("neutron-doc", "Apache-2.0"),
    Manual("cinder-doc", "Apache-2.0"),
    Manual("keystone-doc", "Apache-2.0"),
    Manual(
        "rust-doc",
        "MIT OR Apache-2.0",
        globs=tuple(
            f"**/html/{part}/**/*.html"
            for part in (
                "book",
                "reference",
                "nomicon",
                "cargo",
                "rustc",
                "rustdoc",
                "edition-guide",
                "embedded-book",
                "rust-by-example",
                "unstable-book",
                "std",
            )
        ),
    ),
    Manual("postgresql-doc-15", "PostgreSQL"),
    Manual("sqlite3-doc", "public domain"),
    Manual("nodejs-doc", "MIT", globs=("**/api/*.html",), skipped=()),
    Manual("llvm-14-doc", "Apache-2.0 WITH LLVM-exception"),
    Manual("clang-14-doc", "Apache-2.0 WITH LLVM-exception"),
    Manual("apache2-doc", "Apache-2.0", globs=("**/manual/en/**/*.html",)),
    Manual("erlang-doc", "Apache-2.0"),
    Manual("racket-doc", "MIT OR Apache-2.0"),
    Manual(
        "ghc-doc", "BSD-3-Clause", globs=("**/users_guide/**/*.html", "**/libraries/base-*/*.html")
    ),
    Manual("cmake-doc", "BSD-3-Clause"),
    Manual("ant-doc", "Apache-2.0", globs=("**/manual/**/*.html",)),
    Manual("libboost1.74-doc", "BSL-1.0"),
    Manual("perl-doc", "Artistic OR GPL-1.0-or-later", globs=("**/*.pod",)),
    Manual("jargon-text", "public domain", globs=("**/*.txt", "**/*.txt.gz", "**/*.gz")),
)


def standard_library() -> Source:
    """The modules of Python's standard library, with their tests."""
    root = Path(sysconfig.get_path("stdlib"))
    files = code_files(root)
    version = sysconfig.get_python_version()
    return Source(
        "Python standard library", version, "PSF-2.0", "code", root, files, is_required=True
    )


def installed(folders: Sequence[Path | str] = ()) -> Iterator[Source]:
    """The distributions that this project requires (see `required`), then those in `folders` that
    have a permissive licence. A distribution found in both is listed once, with `is_required` set.
    Raises BadTraining if one of `folders` is not a folder."""
    seen: set[str] = set()
    for distribution in required():
        seen.add(_name(distribution))
        yield _source(distribution, is_required=True)
    for folder in folders:
        if not Path(folder).is_dir():
            raise BadTraining(f"{str(folder)[:200]!r} is not a folder of installed packages")
        found = sorted(metadata.distributions(path=[str(folder)]), key=_name)
        for distribution in found:
            if _name(distribution) not in seen and is_free(licence(distribution)):
                seen.add(_name(distribution))
                yield _source(distribution, is_required=False)


def required(roots: Iterable[str] = ROOT_REQUIREMENTS) -> list[metadata.Distribution]:
    """The installed distributions among `roots` and all that they depend on, directly or
    indirectly, sorted by name. Those with a restricted licence (see `_is_restricted`) are left
    out."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if _name(distribution) not in found:
            found[_name(distribution)] = distribution
            waiting += [
                _bare(line) for line in distribution.requires or () if "extra ==" not in line
            ]
    return [found[name] for name in sorted(found) if not _is_restricted(licence(found[name]))]


def _is_restricted(text: str) -> bool:
    """Whether the licence `text` has a copyleft or proprietary part, and no "OR" that allows a
    permissive licence instead."""
    has_choice = " OR " in text.upper() and FREE.search(text)
    return bool(NOT_FREE_ENOUGH.search(text)) and not has_choice


def _bare(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def _name(distribution: metadata.Distribution) -> str:
    return distribution.metadata["Name"].lower().replace("_", "-")


def licence(distribution: metadata.Distribution) -> str:
    """The licence that the metadata gives: its expression, or else its classifiers, or else the
    start of its licence text."""
    known = distribution.metadata
    if "License-Expression" in known:
        return known["License-Expression"]
    labels = [
        label.split("::")[-1].strip()
        for label in known.get_all("Classifier") or ()
        if label.startswith("License ::")
    ]
    stated = (known.get_all("License") or ["not stated"])[0]
    return "; ".join(labels) or " ".join(stated.split())[:80]


def is_free(text: str) -> bool:
    """Whether the licence `text` is permissive and has no copyleft or proprietary part."""
    return bool(FREE.search(text)) and not NOT_FREE_ENOUGH.search(text)


def _source(distribution: metadata.Distribution, is_required: bool) -> Source:
    name = _name(distribution)
    paths = {
        Path(str(distribution.locate_file(file)))
        for file in distribution.files or ()
        if file.suffix == ".py" and is_allowed(file.parts) and not is_test(file.parts)
    }
    root = Path(str(distribution.locate_file("")))
    return Source(
        name,
        distribution.version,
        licence(distribution),
        "code",
        root,
        tuple(sorted(paths)),
        name in KEPT_OUT,
        is_required,
    )


def is_allowed(parts: Sequence[str]) -> bool:
    """Whether the file with the path `parts` below a source's root may be used. A file may not be
    used if it is above the root, in one of SKIPPED_FOLDERS (mostly copies of other projects), or
    named like a test file with intentional errors."""
    return (
        SKIPPED_FOLDERS.isdisjoint(parts)
        and not parts[-1].startswith(SKIPPED_NAMES)
        and ".." not in parts
    )


def is_test(parts: Sequence[str]) -> bool:
    """Whether the file with the path `parts` below a source's root belongs to the tests."""
    return (
        not TEST_FOLDERS.isdisjoint(parts[:-1])
        or parts[-1].startswith("test_")
        or parts[-1] == "conftest.py"
    )


def code_files(root: Path) -> tuple[Path, ...]:
    """The allowed Python files below `root`, including tests, sorted."""
    found = (path for path in root.rglob("*.py") if is_allowed(path.relative_to(root).parts))
    return tuple(sorted(found))


def manuals(folders: Sequence[Path | str]) -> Iterator[tuple[Manual, Source]]:
    """A manual and its source for each package of MANUALS that is unpacked in one of `folders`, as
    FOLDER/PACKAGE/... Raises BadTraining if an element of `folders` is not a folder."""
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise BadTraining(f"{str(folder)[:200]!r} is not a folder of documentation packages")
        for manual in MANUALS:
            root = folder / manual.package
            if root.is_dir():
                yield manual, _manual_source(root, manual)


def _manual_source(root: Path, manual: Manual) -> Source:
    version = root / "VERSION"
    number = version.read_text(encoding="utf-8").strip() if version.exists() else "unknown"
    found = {
        path
        for pattern in manual.globs
        for path in root.glob(pattern)
        if path.is_file()
        and not path.is_symlink()
        and SKIPPED_PAGES.union(manual.skipped).isdisjoint(path.relative_to(root).parts)
    }
    return Source(
        manual.package,
        number,
        manual.licence,
        "prose",
        root,
        tuple(sorted(found)),
        manual.is_kept_out,
    )
