"""Lets a suite be an ordinary unittest file: call main() at its end, and the result goes where ./test looks for it.

    #!/usr/bin/env python3
    import pathlib, sys, unittest
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
    import suite_unittest
    ...
    suite_unittest.main()
"""

import json
import os
import sys
import time
import unittest

SLOWEST_SHOWN = 10


class _Result(unittest.TextTestResult):
    """Counts test methods.  A method fails once, however many of its subtests do."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.failed_tests = {}
        self.seconds = {}  # of each test, and of what comes between two: the classes' set-up and tear-down
        self.last = time.monotonic()

    def _took(self, what):
        now = time.monotonic()
        self.seconds[what] = self.seconds.get(what, 0) + now - self.last
        self.last = now

    def startTest(self, test):
        self._took(f"before {test.id()}")
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self._took(test.id())

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.failed_tests[test.id()] = err[1]

    def addError(self, test, err):
        super().addError(test, err)
        self.failed_tests[test.id()] = err[1]

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.failed_tests[test.id()] = err[1]

    def summary(self):
        failures = [f"{name.removeprefix('__main__.')}: {str(why).splitlines()[0] if str(why) else type(why).__name__}"
                    for name, why in self.failed_tests.items()]  # fmt: skip
        ran = self.testsRun - len(self.skipped)
        return {"passed": max(ran - len(failures), 0), "failed": len(failures), "failures": failures}


def main(names=None):
    """Runs the tests of the calling file, or those of the modules, classes and methods that `names` has."""
    program = unittest.main(module=None if names else "__main__", argv=[sys.argv[0], *names] if names else None, exit=False,
                            verbosity=2, testRunner=unittest.TextTestRunner(verbosity=2, resultclass=_Result))
    slowest = sorted(program.result.seconds.items(), key=lambda took: -took[1])[:SLOWEST_SHOWN]
    print("Slowest:", *(f"{seconds:6.2f} s {name.replace('__main__.', '')}" for name, seconds in slowest), sep="\n  ", file=sys.stderr)
    if path := os.environ.get("STATOR_RESULT"):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(program.result.summary(), file)
    sys.exit(not program.result.wasSuccessful())
