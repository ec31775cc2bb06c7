"""Finds, builds and runs the test suites; ./test is its front door.

A suite is one of two things:

  unit/<layer>   the *_test.cc of a layer of src/ or systems/, the GoogleTest binary build/<preset>/test_<layer>.  Runs on every
                 build; under the thread sanitizer without RocksDB, which Debian does not instrument: layers and tests
                 with RocksDb in their name are left out.
  <name>         the executable tests/<name>/suite, or systems/<name>/tests/suite as systems/<name>.  Runs on the release
                 build.  One comment line near its top can say more:
                 # suite: asan tsan timeout=900 target=another_program nobuild

What is for the thread sanitizer runs with --long, or when it is named.

A suite finds in its environment STATOR_BIN (the program to test), STATOR_PRESET (release, asan or tsan), STATOR_STORE
(`memory` when it must not use RocksDB), TMPDIR (its own, removed afterwards) and STATOR_RESULT, the file to which it
writes {"passed": n, "failed": n, "failures": ["..."]}.
It starts in the top folder, and whatever it leaves running is killed.  A suite that exits with an error, is too slow, or
writes no result has failed, and so has one whose program a sanitizer complained about.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PRESETS = ("release", "asan", "tsan")
LONG_PRESETS = ("tsan",)  # run when asked for: three builds from nothing take two cores longer than half an hour
TOP = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_TIMEOUT = 600  # seconds
MAX_FAILURES_SHOWN = 20
UNDER_TSAN = "-*RocksDb*"  # a GoogleTest filter: everything but these


@dataclasses.dataclass
class Suite:
    name: str  # without the preset
    preset: str
    command: list
    targets: list  # what the build must make for it
    timeout: int = DEFAULT_TIMEOUT
    unit: bool = False

    @property
    def full_name(self):
        return self.name if self.preset == "release" else f"{self.name}@{self.preset}"

    def selected_by(self, pattern):
        return pattern in (self.name, f"{self.name}@{self.preset}", self.name.split("/")[0], f"@{self.preset}")


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    skipped: int = 0
    failures: list = dataclasses.field(default_factory=list)
    failed: int = 0  # at least len(failures): a suite need not name each

    def fail(self, why):
        self.failures.append(why)
        self.failed += 1


def unit_suites(top):
    for cmake_file in sorted([*top.glob("src/**/CMakeLists.txt"), *top.glob("systems/*/CMakeLists.txt")]):
        layer = re.search(r"stator_layer\(\s*(\w+)", cmake_file.read_text())
        if not layer or not any(cmake_file.parent.glob("*_test.cc")):
            continue
        target = f"test_{layer[1]}"
        for preset in PRESETS:
            if preset == "tsan" and "rocksdb" in layer[1]:
                continue
            command = [str(top / "build" / preset / target)]
            if preset == "tsan":
                command.append(f"--gtest_filter={UNDER_TSAN}")
            yield Suite(f"unit/{layer[1]}", preset, command, [target], unit=True)


def script_suites(top):
    for script in sorted([*top.glob("tests/*/suite"), *top.glob("systems/*/tests/suite")]):
        presets, timeout, targets = ["release"], DEFAULT_TIMEOUT, ["stator"]
        of_system = script.parent.parent.parent.name == "systems"
        name = f"systems/{script.parent.parent.name}" if of_system else script.parent.name
        head = script.read_text(errors="replace").splitlines()[:40]
        for line in head:
            declared = re.match(r"\s*(?:#|//)\s*suite:\s*(.*)", line)
            for word in declared[1].split() if declared else []:
                if word in PRESETS:
                    presets.append(word)
                elif word == "nobuild":
                    targets = []
                elif re.fullmatch(r"timeout=\d+", word):
                    timeout = int(word.split("=")[1])
                elif re.fullmatch(r"target=\w+", word):
                    targets.append(word.split("=")[1])
                else:
                    raise SystemExit(f"{script}: '# suite:' does not know the word {word}")
        for preset in dict.fromkeys(presets):
            yield Suite(name, preset, [str(script)], targets, timeout)


def discover(top):
    order = {preset: rank for rank, preset in enumerate(PRESETS)}
    suites = [*unit_suites(top), *script_suites(top)]
    return sorted(suites, key=lambda suite: (order[suite.preset], not suite.unit))  # stable: names stay sorted


class Runner:
    def __init__(self, top):
        self.top = top
        self.logs = top / "build" / "test-logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.printing = threading.Lock()
        self.passed = self.failed = 0
        self.running = set()  # process ids, each the leader of its group

    def run(self, suites, whole):
        for preset in PRESETS:
            chosen = [suite for suite in suites if suite.preset == preset]
            targets = sorted({target for suite in chosen for target in suite.targets})
            # A whole run also links every layer by itself, which finds symbols taken from a layer above; once is enough.
            if not self.build(preset, ["all"] if targets and whole and preset == "release" else targets):
                chosen = [suite for suite in chosen if not suite.targets]
            # Unit binaries are small and independent; the others may need the machine for themselves.
            with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
                list(pool.map(self.run_suite, (suite for suite in chosen if suite.unit)))
            for suite in chosen:
                if not suite.unit:
                    self.run_suite(suite)
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0

    def build(self, preset, targets):
        if not targets:
            return True
        started = time.monotonic()
        print(f"Building {preset}", flush=True)
        commands = (
            ["cmake", "--preset", preset, "-DSTATOR_TESTS=ON"],
            ["cmake", "--build", f"build/{preset}", "--target", *targets],
        )
        for command in commands:
            quiet = self.logs / f"configure@{preset}.log" if "--preset" in command else None
            with open(quiet, "wb") if quiet else open(os.devnull, "wb") as log:
                output = {"stdout": log, "stderr": subprocess.STDOUT} if quiet else {}
                status = subprocess.run(command, cwd=self.top, **output, check=False).returncode
            if status != 0:
                if quiet:
                    print(quiet.read_text(errors="replace"))
                outcome = Outcome()
                outcome.fail(" ".join(command) + f" ended with status {status}")
                self.report(f"build@{preset}", outcome, time.monotonic() - started, None)
                return False
        print(f"Built {preset} in {time.monotonic() - started:.0f} s", flush=True)
        return True

    def run_suite(self, suite):
        stem = suite.full_name.replace("/", "-")
        log_path = self.logs / f"{stem}.log"
        result_path = self.logs / f"{stem}.json"
        sanitizer_path = self.logs / f"{stem}.sanitizer"
        for old in [result_path, *self.logs.glob(f"{stem}.sanitizer.*")]:
            old.unlink(missing_ok=True)
        command = list(suite.command)
        if suite.unit:
            command.append(f"--gtest_output=json:{result_path}")
        if suite.preset == "tsan" and without_address_randomisation():
            command = ["setarch", "-R", *command]

        started = time.monotonic()
        temp = tempfile.mkdtemp(prefix="stator-")
        try:
            with open(log_path, "wb") as log:
                status = self.wait(command, log, suite.timeout, self.environment(suite, result_path, sanitizer_path, temp))
        finally:
            shutil.rmtree(temp, ignore_errors=True)
        read = read_gtest_result if suite.unit else read_suite_result
        outcome = read(result_path, log_path, status)
        for report in sorted(self.logs.glob(f"{stem}.sanitizer.*")):
            outcome.fail(f"a sanitizer report: {report.relative_to(self.top)}")
        self.report(suite.full_name, outcome, time.monotonic() - started, log_path)

    def environment(self, suite, result_path, sanitizer_path, temp):
        # Settings for Stator in the caller's environment are not for the Stators under test.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("STATOR_")}
        store = {"STATOR_STORE": "memory"} if suite.preset == "tsan" else {}
        return clean | store | {
            "STATOR_BIN": str(self.top / "build" / suite.preset / "stator"),
            "STATOR_PRESET": suite.preset,
            "STATOR_RESULT": str(result_path),
            "TMPDIR": temp,
            "ASAN_OPTIONS": f"log_path={sanitizer_path}:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": f"log_path={sanitizer_path}:print_stacktrace=1",
            "TSAN_OPTIONS": f"log_path={sanitizer_path}:halt_on_error=1:second_deadlock_stack=1",
        }

    def wait(self, command, log, timeout, environment):
        """Runs `command` and then ends what it left behind.  None for success, else what went wrong."""
        try:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=self.top, env=environment,
                start_new_session=True)  # fmt: skip
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        self.running.add(process.pid)
        deadline = time.monotonic() + timeout
        late = False
        # Not reaped until its group is gone, so that the number of the group cannot come to mean another one.
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > deadline:
                late = True
                break
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        self.running.discard(process.pid)
        status = process.wait()
        if late:
            return f"still running after {timeout} s"
        if status < 0:
            return f"killed by {signal.Signals(-status).name}"
        return f"ended with status {status}" if status else None

    def stop(self):
        for pid in list(self.running):
            os.killpg(pid, signal.SIGKILL)

    def report(self, name, outcome, seconds, log_path):
        counts = f"{outcome.passed} passed"
        if outcome.failed:
            counts += f", {outcome.failed} failed"
        if outcome.skipped:
            counts += f", {outcome.skipped} skipped"
        with self.printing:
            self.passed += outcome.passed
            self.failed += outcome.failed
            print(f"{'FAIL' if outcome.failed else 'ok':<4} {name:<28} {counts:<28} {seconds:7.1f} s")
            for failure in outcome.failures[:MAX_FAILURES_SHOWN]:
                print(f"       {failure}")
            if len(outcome.failures) > MAX_FAILURES_SHOWN:
                print(f"       and {len(outcome.failures) - MAX_FAILURES_SHOWN} more")
            if outcome.failed and log_path:
                print(f"       log: {log_path.relative_to(self.top)}")
            sys.stdout.flush()


def read_gtest_result(result_path, log_path, status):
    outcome = Outcome()
    try:
        cases = [
            (f"{group['name']}.{case['name']}", case)
            for group in json.loads(result_path.read_text())["testsuites"]
            for case in group["testsuite"]
        ]
    except (OSError, ValueError, KeyError):
        # A crash writes no report; the log tells how far it came.
        log = log_path.read_text(errors="replace") if log_path.exists() else ""
        outcome.passed = len(re.findall(r"^\[       OK \] ", log, re.MULTILINE))
        last = re.findall(r"^\[ RUN      \] (\S+)", log, re.MULTILINE)
        outcome.fail(f"{last[-1] if last else 'before the first test'}: {status or 'wrote no report'}")
        return outcome
    for name, case in cases:
        if case.get("failures"):
            outcome.fail(name)
        elif case.get("result") == "COMPLETED":
            outcome.passed += 1
        elif case.get("result") == "SKIPPED":
            outcome.skipped += 1
    if status and not outcome.failed:
        outcome.fail(f"every test passed, but the program {status}")
    if not cases:
        outcome.fail("holds no test")
    return outcome


def read_suite_result(result_path, log_path, status):
    outcome = Outcome()
    try:
        result = json.loads(result_path.read_text())
        outcome.passed = int(result["passed"])
        outcome.failures = [str(failure) for failure in result.get("failures", [])]
        outcome.failed = max(int(result["failed"]), len(outcome.failures))
    except (OSError, ValueError, KeyError, TypeError):
        outcome.fail(f"no result: {status or 'it wrote none'}")
        return outcome
    if status and not outcome.failed:
        outcome.fail(status)
    if outcome.passed + outcome.failed == 0:
        outcome.fail("holds no test")
    return outcome


def without_address_randomisation():
    """g++ 12's thread sanitizer cannot start where the kernel spreads mappings widely; setarch -R avoids that."""
    return subprocess.run(["setarch", "-R", "true"], check=False, capture_output=True).returncode == 0


def main(top, arguments):
    suites = discover(top)
    if arguments == ["--list"]:
        print("\n".join(suite.full_name for suite in suites))
        return 0
    whole = arguments in ([], ["--long"])
    if whole:
        suites = [suite for suite in suites if arguments or suite.preset not in LONG_PRESETS]
        arguments = []
    for argument in arguments:
        if not any(suite.selected_by(argument) for suite in suites):
            print(f"test: no suite is called {argument}; ./test --list shows them", file=sys.stderr)
            return 2
    if arguments:
        suites = [suite for suite in suites if any(suite.selected_by(argument) for argument in arguments)]
    runner = Runner(top)
    try:
        return runner.run(suites, whole=whole)
    except KeyboardInterrupt:
        runner.stop()
        print("test: stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(TOP, sys.argv[1:]))
