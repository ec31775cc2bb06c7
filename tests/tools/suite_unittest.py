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
import unittest


class _Result(unittest.TextTestResult):
    """Counts test methods.  A method fails once, however many of its subtests do."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.failed_tests = {}

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
    if path := os.environ.get("STATOR_RESULT"):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(program.result.summary(), file)
    sys.exit(not program.result.wasSuccessful())
