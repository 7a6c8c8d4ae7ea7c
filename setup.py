# SPDX-License-Identifier: GPL-3.0-or-later
"""What pyproject.toml cannot say: the repository is the package `contact_lens`, without its own tools."""

from __future__ import annotations

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

PACKAGE = "contact_lens"
TOOLS = ("build", "setup")
"""Modules beside the package's own that stay out of it."""


class BuildPackage(build_py):
    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        return [found for found in super().find_package_modules(package, package_dir) if found[1] not in TOOLS]


setup(
    packages=[PACKAGE, *(f"{PACKAGE}.{name}" for name in find_packages(include=["core*", "blender_addon*"]))],
    package_dir={PACKAGE: "."},
    package_data={PACKAGE: ["py.typed", "farm/*", "farm/*/*", "blender_addon/page/player.*"]},
    cmdclass={"build_py": BuildPackage},
)
