"""DynamoDB endpoints that others wrote, from npm; tests/remote pins them in its lock file."""

import pathlib
import socket
import subprocess

import client_programs
import server as stator
import waiting

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "remote"
DYNOXIDE = [str(FOLDER / "node_modules/@dynoxide/linux-x64/dynoxide")]
DYNALITE = ["node", str(FOLDER / "node_modules/dynalite/cli.js"), "--createTableMs", "0"]


def install():
    report = stator.Report("endpoints")
    if not client_programs.npm_packages(FOLDER, report):
        raise RuntimeError(report.failures[0])


def start(command, folder, environment=None):
    """The process, and its URL once it listens."""
    port = stator.free_port()
    process = subprocess.Popen([*command, "--port", str(port)], env=environment, cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    for _ in waiting.attempts(60 * stator.slowness(), 0.05, 0.05):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, f"http://127.0.0.1:{port}"
        except OSError:
            if process.poll() is not None:
                break
    process.kill()
    raise RuntimeError(f"{command[-1]} ended at its start, or does not listen")
