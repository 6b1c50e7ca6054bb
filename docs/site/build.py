"""Builds the documentation site in both languages: ``python docs/site/build.py``."""

import argparse
import compileall
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
sys.path.insert(0, str(Path(__file__).parent / "support"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from check_pages import faults
from forked_process import at_start, fork_server
from page_run import FORKS, PACKAGES, ROOT, environment

SITE = Path(__file__).parent
OUTPUT = SITE / "_build" / "html"
LANGUAGES = ("en", "ja")


def build(language: str, *, jobs: int, forks: int | None) -> int:
    """Build one language. Every warning is an error.

    Parameters
    ----------
    language : {"en", "ja"}
        Folder of the sources.
    jobs : int
        Number of pages that are read at the same time.
    forks : int, optional
        Descriptor of a server from which the commands of pages are forked. It loads the packages once for all of them.

    Returns
    -------
    int
        Exit code of Sphinx.
    """
    options = ["-b", "html", "-E", "-q", "-W", "-n", "--keep-going", "-j", str(jobs)]
    folders = ["-c", str(SITE), "-d", str(SITE / "_build" / "doctrees" / language)]
    command = [sys.executable, "-m", "sphinx", *options, *folders, str(SITE / language), str(OUTPUT / language)]
    settings = {"TOKUMEI_SITE_LANGUAGE": language} | ({FORKS: str(forks)} if forks else {})
    return subprocess.call(command, env=os.environ | settings, pass_fds=[forks] if forks else [])


def compile_modules() -> None:
    """Compile once what pages import; their processes write no bytecode, since pages may change their own modules."""
    for folder in (*(ROOT / package for package in PACKAGES), SITE / "support"):
        compileall.compile_dir(folder, quiet=1)


def main() -> int:
    """Build the languages, then check links and outside requests of the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="only this language; may be repeated")
    parser.add_argument("--fresh", action="store_true", help="run every command again, also where nothing changed")
    # While pages are written, Sphinx keeps one of its processes for handing them out.
    jobs = (os.cpu_count() or 1) + 1
    parser.add_argument("-j", "--jobs", type=int, default=jobs, help="pages of a language read at the same time")
    options = parser.parse_args()
    if options.fresh:
        shutil.rmtree(SITE / "_build", ignore_errors=True)
    languages = options.language or LANGUAGES
    for language in languages:
        shutil.rmtree(OUTPUT / language, ignore_errors=True)
    compile_modules()
    server = fork_server(os.getpid(), frozenset(at_start(environment()).items())) if hasattr(os, "pidfd_open") else None
    forks = server and server.fileno()
    # Sphinx resolves references in one process, and a page's commands run one after the other.
    with ThreadPoolExecutor(len(languages) if options.jobs > 1 else 1) as pool:
        codes = list(pool.map(lambda language: build(language, jobs=options.jobs, forks=forks), languages))
    if any(codes):
        return 1
    shutil.copyfile(SITE / "index.html", OUTPUT / "index.html")
    if len(languages) == len(LANGUAGES) and (found := faults(OUTPUT)):
        print(*found, f"{len(found)} faults", sep="\n", file=sys.stderr)
        return 1
    print(OUTPUT / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
