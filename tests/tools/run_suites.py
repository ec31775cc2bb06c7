"""Finds, builds and runs the test suites; ./test is its front door.

A suite is one of two things:

  unit/<layer>   the *_test.cc of a layer of src/ or systems/, the GoogleTest binary build/<preset>/test_<layer>; layers that say
                 TESTS_IN <name> to stator_layer() share test_<name>, and are the suite unit/<name>.  Runs on every build; under
                 the thread sanitizer without RocksDB, which Debian does not instrument: layers and tests with RocksDb in their
                 name are left out.
  <name>         the executable tests/<name>/suite, or systems/<name>/tests/suite as systems/<name>.  Runs on the release
                 build.  One comment line near its top can say more:
                 # suite: asan tsan timeout=900 target=another_program nobuild alone soak

`asan` and `tsan` ask for a sanitizer's build, too.  `nobuild` needs no program.  `alone` runs after all others, when nothing is being
built.  `soak` takes long: it runs with --soak, or when it is named.  The thread sanitizer runs with --long, or when it is named.

A suite finds in its environment STATOR_BIN (the program to test), STATOR_PRESET (release, asan or tsan), STATOR_TEST_STORE
(`memory` when it must not use RocksDB), TMPDIR (its own, removed afterwards) and STATOR_RESULT, the file to which it
writes {"passed": n, "failed": n, "failures": ["..."]}.
It starts in the top folder, and whatever it leaves running is killed.  A suite that exits with an error, is too slow, or
writes no result has failed, and so has one whose program a sanitizer complained about.

The suites of a build start when it is done, one per core, the longest of the last run first; the next build goes on beside them, at
a low priority.  docs/internals/build.md says why.
"""

import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PRESETS = ("release", "asan", "tsan")
LONG_PRESETS = ("tsan",)  # run when asked for: three builds from nothing take two cores longer than half an hour
TOP = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_TIMEOUT = 600  # seconds
MAX_FAILURES_SHOWN = 20
MEMORY_PER_JOB = 1 << 30  # bytes: what a suite with its servers, or one compiler, may need
POLL = 0.02  # seconds
UNDER_TSAN = "-*RocksDb*"  # a GoogleTest filter: everything but these


@dataclasses.dataclass
class Suite:
    name: str  # without the preset
    preset: str
    command: list
    targets: list  # what the build must make for it
    timeout: int = DEFAULT_TIMEOUT
    unit: bool = False
    alone: bool = False
    soak: bool = False
    aliases: tuple = ()  # further names: the layers whose tests a program holds

    @property
    def full_name(self):
        return self.name if self.preset == "release" else f"{self.name}@{self.preset}"

    def selected_by(self, pattern):
        groups = () if self.soak else (self.name.split("/")[0], f"@{self.preset}")
        names = (self.name, *self.aliases)
        return pattern in (*names, *(f"{name}@{self.preset}" for name in names), *groups)


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    skipped: int = 0
    failures: list = dataclasses.field(default_factory=list)
    failed: int = 0  # at least len(failures): a suite need not name each

    def fail(self, why):
        self.failures.append(why)
        self.failed += 1


def layers_with_tests(top):
    """Each layer that has tests: its name, the program that holds them, and their files, those in rooms of the layer too."""
    for cmake_file in sorted([*top.glob("src/**/CMakeLists.txt"), *top.glob("systems/*/CMakeLists.txt")]):
        text = cmake_file.read_text()
        layer = re.search(r"stator_layer\(\s*(\w+)", text)
        rooms = re.search(r"\bROOMS\s+([a-z_/ \n]+)", text)
        folders = [cmake_file.parent, *(cmake_file.parent / room for room in (rooms[1].split() if rooms else []))]
        files = [file for folder in folders for file in folder.glob("*_test.cc")]
        if layer and files:
            shared = re.search(r"\bTESTS_IN\s+(\w+)", text)
            yield layer[1], (shared or layer)[1], files


def unit_suites(top):
    programs = {}  # the layers whose tests each holds
    for layer, program, _ in layers_with_tests(top):
        programs.setdefault(program, []).append(layer)
    for program, layers in programs.items():
        for preset in PRESETS:
            if preset == "tsan" and all("rocksdb" in layer for layer in layers):
                continue
            command = [str(top / "build" / preset / f"test_{program}")]
            if preset == "tsan":
                command.append(f"--gtest_filter={UNDER_TSAN}")
            yield Suite(f"unit/{program}", preset, command, [f"test_{program}"], unit=True, aliases=tuple(f"unit/{layer}" for layer in layers))


def script_suites(top):
    for script in sorted([*top.glob("tests/*/suite"), *top.glob("systems/*/tests/suite")]):
        presets, timeout, targets, words = ["release"], DEFAULT_TIMEOUT, ["stator"], set()
        of_system = script.parent.parent.parent.name == "systems"
        name = f"systems/{script.parent.parent.name}" if of_system else script.parent.name
        head = script.read_text(errors="replace").splitlines()[:40]
        for line in head:
            declared = re.match(r"\s*(?:#|//)\s*suite:\s*(.*)", line)
            for word in declared[1].split() if declared else []:
                if word in PRESETS:
                    presets.append(word)
                elif word in ("nobuild", "alone", "soak"):
                    words.add(word)
                elif re.fullmatch(r"timeout=\d+", word):
                    timeout = int(word.split("=")[1])
                elif re.fullmatch(r"target=\w+", word):
                    targets.append(word.split("=")[1])
                else:
                    raise SystemExit(f"{script}: '# suite:' does not know the word {word}")
        for preset in dict.fromkeys(presets):
            yield Suite(name, preset, [str(script)], [] if "nobuild" in words else targets, timeout,
                        alone="alone" in words, soak="soak" in words)  # fmt: skip


def discover(top):
    order = {preset: rank for rank, preset in enumerate(PRESETS)}
    suites = [*unit_suites(top), *script_suites(top)]
    return sorted(suites, key=lambda suite: (order[suite.preset], not suite.unit))  # stable: names stay sorted


class Job:
    """A process that the runner started: a suite, or a build.  It leads a session of its own, which ends with it."""

    def __init__(self, command, timeout=math.inf, **options):
        self.started, self.timeout = time.monotonic(), timeout
        self.elapsed = self.processor = 0  # seconds, known at the end
        self.problem = self.process = None
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, **options)
        except OSError as error:
            self.problem = f"cannot be started: {error.strerror}"

    def over(self):
        """Whether it has ended, by itself or because it was too slow.  `problem` then says what went wrong, None if nothing did."""
        if not self.process:
            return True
        late = time.monotonic() > self.started + self.timeout
        if not late and os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        # Not reaped until its group is gone, so that the number of the group cannot come to mean another one.
        os.killpg(self.process.pid, signal.SIGKILL)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = status = os.waitstatus_to_exitcode(status)
        self.elapsed, self.processor = time.monotonic() - self.started, used.ru_utime + used.ru_stime
        if late:
            self.problem = f"still running after {self.timeout} s"
        elif status < 0:
            self.problem = f"killed by {signal.Signals(-status).name}"
        elif status:
            self.problem = f"ended with status {status}"
        return True

    def stop(self):
        if self.process and self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Build(Job):
    """Configures and builds `targets`.  Says how far it is, and what the compiler complains about."""

    def __init__(self, top, logs, preset, targets):
        self.preset, self.name = preset, f"build@{preset}"
        log = (logs / f"configure@{preset}.log").relative_to(top)
        script = f"""cmake --preset {preset} -DSTATOR_TESTS=ON >{log} 2>&1 || {{ cat {log}; exit 1; }}
                     source cmake/progress.sh && build_with_progress {preset} {" ".join(targets)}"""
        # Suites have a time limit, so they come first.
        super().__init__(["nice", "-n", "19", "bash", "-c", script], cwd=top)


class SuiteRun(Job):
    def __init__(self, top, logs, suite):
        self.suite, self.name, self.logs = suite, suite.full_name, logs
        stem = suite.full_name.replace("/", "-")
        self.log, self.result = logs / f"{stem}.log", logs / f"{stem}.json"
        self.sanitizer = logs / f"{stem}.sanitizer"
        for old in [self.result, *self.sanitizer_reports()]:
            old.unlink(missing_ok=True)
        command = list(suite.command)
        if suite.unit:
            command.append(f"--gtest_output=json:{self.result}")
        if suite.preset == "tsan" and without_address_randomisation():
            command = ["setarch", "-R", *command]
        self.temp = tempfile.mkdtemp(prefix="stator-")
        with open(self.log, "wb") as log:
            super().__init__(command, suite.timeout, stdout=log, cwd=top, env=self.environment(top))

    def environment(self, top):
        # Settings for Stator in the caller's environment are not for the Stators under test.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("STATOR_")}
        store = {"STATOR_TEST_STORE": "memory"} if self.suite.preset == "tsan" else {}
        return clean | store | {
            "STATOR_BIN": str(top / "build" / self.suite.preset / "stator"),
            "STATOR_PRESET": self.suite.preset,
            "STATOR_RESULT": str(self.result),
            "TMPDIR": self.temp,
            "ASAN_OPTIONS": f"log_path={self.sanitizer}:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": f"log_path={self.sanitizer}:print_stacktrace=1",
            "TSAN_OPTIONS": f"log_path={self.sanitizer}:halt_on_error=1:second_deadlock_stack=1",
        }

    def sanitizer_reports(self):
        return sorted(self.logs.glob(f"{self.sanitizer.name}.*"))

    def stop(self):
        super().stop()
        shutil.rmtree(self.temp, ignore_errors=True)

    def outcome(self, top):
        shutil.rmtree(self.temp, ignore_errors=True)
        read = read_gtest_result if self.suite.unit else read_suite_result
        outcome = read(self.result, self.log, self.problem)
        for report in self.sanitizer_reports():
            outcome.fail(f"a sanitizer report: {report.relative_to(top)}")
        return outcome


class Runner:
    def __init__(self, top, jobs=None):
        self.top = top
        self.logs = top / "build" / "test-logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.jobs = jobs or suites_at_once()
        self.passed = self.failed = 0
        self.running = []
        self.times = []  # (name, elapsed, processor) of each build and suite
        self.last_times = read_times(self.logs)

    def run(self, suites, whole):
        started = time.monotonic()
        builds = []
        for preset in PRESETS:
            targets = sorted({target for suite in suites if suite.preset == preset for target in suite.targets})
            # A whole run also links every layer by itself, which finds symbols taken from a layer above; once is enough.
            if targets:
                builds.append((preset, ["all"] if whole and preset == "release" else targets))
        self.ready = [suite for suite in suites if not suite.targets]
        self.waiting = [suite for suite in suites if suite.targets]
        while builds or self.ready or self.running:
            if builds and not any(isinstance(job, Build) for job in self.running):
                preset, targets = builds.pop(0)
                print(f"Building {preset}", flush=True)
                self.running.append(Build(self.top, self.logs, preset, targets))
            while suite := self.next_suite(builds):
                self.ready.remove(suite)
                self.running.append(SuiteRun(self.top, self.logs, suite))
            time.sleep(POLL)
            for job in [job for job in self.running if job.over()]:
                self.running.remove(job)
                self.finish(job)
        self.print_times(time.monotonic() - started)
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0

    def next_suite(self, builds):
        """The suite to start now: the one that takes longest, unknown ones first.  None to wait."""
        running = [job.suite for job in self.running if isinstance(job, SuiteRun)]
        if len(running) >= self.jobs or any(suite.alone for suite in running):
            return None
        # One suite on two builds may share a folder, node_modules for instance.
        names = {suite.name for suite in running}
        free = [suite for suite in self.ready if not suite.alone and suite.name not in names]
        if not free and not self.running and not builds:
            free = self.ready  # those that run alone
        return max(free, key=self.expected_time, default=None)

    def expected_time(self, suite):
        known = [self.last_times.get(f"{suite.name}@{preset}") for preset in (suite.preset, *PRESETS)]
        return next((seconds for seconds in known if seconds is not None), math.inf)

    def finish(self, job):
        self.times.append((job.name, job.elapsed, job.processor))
        if isinstance(job, SuiteRun):
            self.last_times[f"{job.suite.name}@{job.suite.preset}"] = job.elapsed
            write_times(self.logs, self.last_times)
            self.report(job, job.outcome(self.top), job.log)
            return
        mine = [suite for suite in self.waiting if suite.preset == job.preset]
        self.waiting = [suite for suite in self.waiting if suite.preset != job.preset]
        if job.problem:
            outcome = Outcome()
            outcome.fail(f"the build {job.problem}; {len(mine)} suites were left out")
            self.report(job, outcome, None)
        else:
            self.ready += mine
            print(f"Built {job.preset} in {job.elapsed:.0f} s", flush=True)

    def stop(self):
        for job in self.running:
            job.stop()

    def report(self, job, outcome, log):
        counts = f"{outcome.passed} passed"
        if outcome.failed:
            counts += f", {outcome.failed} failed"
        if outcome.skipped:
            counts += f", {outcome.skipped} skipped"
        self.passed += outcome.passed
        self.failed += outcome.failed
        if sys.stdout.isatty():
            print("\r\033[K", end="")  # a build's line of progress, which has no end
        print(f"{'FAIL' if outcome.failed else 'ok':<4} {job.name:<28} {counts:<28} {job.elapsed:7.1f} s")
        for failure in outcome.failures[:MAX_FAILURES_SHOWN]:
            print(f"       {failure}")
        if len(outcome.failures) > MAX_FAILURES_SHOWN:
            print(f"       and {len(outcome.failures) - MAX_FAILURES_SHOWN} more")
        if outcome.failed and log:
            print(f"       log: {log.relative_to(self.top)}")
        sys.stdout.flush()

    def print_times(self, elapsed):
        """The time of each suite, slowest first.  Processor time does not depend on the load of the machine."""
        print(f"\n{'slowest first':<30}{'elapsed':>10}{'processor':>12}")
        for name, seconds, processor in sorted(self.times, key=lambda time: -time[1]):
            print(f"{name:<30}{seconds:8.1f} s{processor:10.1f} s")
        print(f"{'together':<30}{elapsed:8.1f} s{sum(processor for _, _, processor in self.times):10.1f} s\n")


def suites_at_once():
    """One per core, fewer where memory is short: two compilers may be at work beside them."""
    cores = len(os.sched_getaffinity(0))
    available = re.search(r"^MemAvailable:\s*(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.MULTILINE)
    return max(1, min(cores, int(available[1]) * 1024 // MEMORY_PER_JOB - cores)) if available else cores


def read_times(logs):
    """Seconds of each suite, the last time it ran here."""
    try:
        times = json.loads((logs / "times.json").read_text())
        return {str(name): float(seconds) for name, seconds in times.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def write_times(logs, times):
    (logs / "times.json").write_text(json.dumps(times, indent=1, sort_keys=True) + "\n")


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
    jobs = None
    if arguments[:1] == ["--jobs"]:
        if len(arguments) < 2 or not re.fullmatch(r"[1-9]\d{0,2}", arguments[1]):
            print("test: --jobs needs a number: how many suites run at once", file=sys.stderr)
            return 2
        jobs, arguments = int(arguments[1]), arguments[2:]
    whole = arguments in ([], ["--long"])
    if whole:
        suites = [suite for suite in suites if not suite.soak and (arguments or suite.preset not in LONG_PRESETS)]
        arguments = []
    elif arguments[:1] == ["--soak"]:
        soak = [suite for suite in suites if suite.soak]
        # The soak of `cluster` is `cluster-failover`.
        suites = [suite for suite in soak if not arguments[1:] or any(f"{suite.name}-".startswith(f"{name}-") for name in arguments[1:])]
        if not suites:
            print(f"test: no soak suite is called {' or '.join(arguments[1:])}; there are {', '.join(suite.name for suite in soak)}",
                  file=sys.stderr)  # fmt: skip
            return 2
        arguments = []
    for argument in arguments:
        if not any(suite.selected_by(argument) for suite in suites):
            print(f"test: no suite is called {argument}; ./test --list shows them", file=sys.stderr)
            return 2
    if arguments:
        suites = [suite for suite in suites if any(suite.selected_by(argument) for argument in arguments)]
    runner = Runner(top, jobs)
    try:
        return runner.run(suites, whole=whole)
    except KeyboardInterrupt:
        runner.stop()
        print("test: stopped", file=sys.stderr)
        return 130


def stop_when_terminated():
    """SIGTERM is as Ctrl-C: what was started ends, too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


if __name__ == "__main__":
    stop_when_terminated()
    sys.exit(main(TOP, sys.argv[1:]))
