"""Runs the tests of a system: every capability is a file beside its suite, a unittest module without a main.

    #!/usr/bin/env python3
    # suite: asan
    import pathlib, sys
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/tools"))
    import system_tests
    system_tests.main(__file__)

They run three times: embedded, at a Stator elsewhere, and at a database that is not ours; but once where they are about one of
these: with `stator up` as their command, at a Stator that they talk to, or in a class that says `anywhere = False`.
"""

import importlib.util
import pathlib
import sys
import unittest

import rest
import suite_unittest


def runs_anywhere(test):
    return issubclass(test, rest.Rest) and test.anywhere and test.command == "app" and not issubclass(test, rest.AtStator)


def main(suite):
    folder = pathlib.Path(suite).resolve().parent
    sys.path.insert(0, str(folder))
    found = {}
    for file in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        tests = {name: value for name, value in vars(module).items()
                 if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == file.stem}  # fmt: skip
        tests |= rest.everywhere(*filter(runs_anywhere, tests.values()))
        found |= {f"{file.stem}_{name}": test for name, test in tests.items()}
    vars(sys.modules["__main__"]).update(found)
    suite_unittest.main()
