"""Runs real clients against a server: each is a program that gets the endpoint in STATOR_ENDPOINT and prints `ok NAME` or
`not ok NAME: why` for each thing it tried.
"""
import fcntl
import os
import shutil
import subprocess

import server as stator


def npm_packages(folder, report):
    """Installs the npm packages that `folder` pins: once, and again when its lock file changes.  Suites that want the same wait."""
    if not shutil.which("npm"):
        return report.fail("npm is not installed (Debian packages nodejs and npm)")
    installed, lock = folder / "node_modules/.stator-lock", folder / "package-lock.json"
    with open(lock, "rb") as pinned:
        fcntl.flock(pinned, fcntl.LOCK_EX)
        if not installed.exists() or installed.read_bytes() != pinned.read():
            print(f"{report.name}: npm ci", flush=True)
            done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
                                  cwd=folder, capture_output=True, text=True)
            if done.returncode:
                return report.fail(f"npm ci: {done.stderr[-500:]}")
            shutil.copy(lock, installed)
    return True


def run(report, name, command, endpoint, home):
    """One client program; what it prints becomes part of the report."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "BOTO"))}
    environment.update(STATOR_ENDPOINT=endpoint, AWS_ACCESS_KEY_ID="local", AWS_SECRET_ACCESS_KEY="local", HOME=home,
                       AWS_DEFAULT_REGION="us-east-1", AWS_REGION="us-east-1", AWS_PAGER="", AWS_EC2_METADATA_DISABLED="true",
                       AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE="1")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300 * stator.slowness(), env=environment)
    except (OSError, subprocess.TimeoutExpired) as e:
        return report.fail(f"{name}: {e}")
    passed = failed = 0
    for line in done.stdout.splitlines():
        if line.startswith("ok "):
            passed += 1
            report.ok()
            print(f"ok {name}: {line[3:]}", flush=True)
        elif line.startswith("not ok "):
            failed += 1
            report.fail(f"{name}: {line[7:]}")
    if done.returncode or not passed:
        report.fail(f"{name} ended with {done.returncode} after {passed} passed: {(done.stderr or done.stdout)[-800:]}")
    return print(f"{name}: {passed} passed, {failed} failed", flush=True)
