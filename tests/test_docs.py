# SPDX-License-Identifier: Apache-2.0
"""The site: interface pages name modules that exist, links lead somewhere, nothing is warned of."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
PUBLIC = (
    "tilewright.api",
    "tilewright.machine.description",
    "tilewright.machine.files",
    "tilewright.machine.family",
    "tilewright.passes.pipeline",
    "tilewright.planning.exchange.schedule",
    "tilewright.planning.homes.forms",
    "tilewright.planning.layout.layout",
    "tilewright.planning.memory.problem",
    "tilewright.planning.operators.strategy",
    "tilewright.planning.plan",
    "tilewright.sim.executor",
)


def test_interface_pages_name_modules() -> None:
    named = [
        name
        for page in sorted((DOCS / "api").glob("*.md"))
        for name in re.findall(r"^::: ([\w.]+)$", page.read_text("utf-8"), re.M)
    ]
    assert set(PUBLIC) <= set(named) and len(set(named)) == len(named)
    assert [name for name in named if importlib.util.find_spec(name) is None] == []


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md"])
def test_links_between_documents_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (DOCS / page).read_text("utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not link.startswith("http"):
            assert (DOCS / page).parent.joinpath(link).exists(), link


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("needs the extra `docs`")
    pages = tmp_path / "pages" / "tilewright"
    pages.mkdir(parents=True)
    for path in (*(ROOT / "tilewright").glob("*.py"), *(p.parent for p in ROOT.glob("*/__init__.py"))):
        if path.name != "tilewright":
            (pages / path.name).symlink_to(path)
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    settings = settings.replace("build/pages", pages.parent.as_posix())
    settings = settings.replace("docs_dir: docs", f"docs_dir: {DOCS.as_posix()}")
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    made = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "site" / "api" / "tilewright.html").read_text("utf-8")
    assert "Compile a program of any level" in page
