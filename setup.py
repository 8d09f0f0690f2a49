"""Adds templates/, static/ and docs/ to the wheel, inside the package. Everything else is declared in pyproject.toml.

In the repository these folders lie beside the package; setuptools has no declaration for package data that comes from elsewhere.
A wheel without them could not show a page. `tests/test_wheel.py` builds, installs and starts one, without network.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PAGE_FOLDERS = ("templates", "static", "docs")


class BuildPackageWithPages(build_py):
    """Copies the folders into relevancy/, where `relevancy.settings` finds them; decisions are no part of the help."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        package = Path(self.build_lib) / "relevancy"
        # Setuptools keeps the files of earlier builds, also those that have been deleted since.
        shutil.rmtree(package, ignore_errors=True)
        super().run()
        for name in PAGE_FOLDERS:
            shutil.copytree(name, package / name, ignore=shutil.ignore_patterns("decisions"))


setup(cmdclass={"build_py": BuildPackageWithPages})
