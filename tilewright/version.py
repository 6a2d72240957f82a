# SPDX-License-Identifier: Apache-2.0
"""The one place that names the version."""

__version__ = "0.2.0"


def commit() -> str | None:
    """
    The commit of the sources that run, with "+" behind it where tracked files were changed; None where they
    are no checkout of the project.
    """
    import subprocess
    from pathlib import Path

    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        if not git("ls-files", "version.py"):
            return None  # installed somewhere inside another repository
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None
