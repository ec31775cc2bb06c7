"""A system that comes with Stator, started for a benchmark, and people who use it."""

import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/tools"))
import server as stator  # noqa: E402


def check(holds, message):
    if not holds:
        sys.exit(f"wrong: {message}")


class Service:
    """`stator up` with one system, on a folder of its own.  A context manager."""

    def __init__(self, system, arguments=()):
        self.system, self.arguments = system, list(arguments)
        self.folder = tempfile.TemporaryDirectory()
        self.start()

    def start(self):
        self.process = subprocess.Popen([stator.binary(), "up", "--port", "0", "--console-port", "0", "--data", self.folder.name, "--models",
                                         self.system, *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        welcome = ""
        while "Ctrl-C" not in welcome:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("stator up did not start")
            welcome += line
        self.api = re.search(r"API +(http://\S+)", welcome)[1]
        self.rest = int(re.search(r"Console +http://[^:]+:(\d+)", welcome)[1])

    def user(self, subject):
        token = subprocess.run([stator.binary(), "token", "--subject", subject, "--data", self.folder.name], check=True, text=True, capture_output=True)
        return User(self, token.stdout.strip())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.folder.cleanup()


class User:
    """One connection, kept."""

    def __init__(self, service, token):
        self.service, self.token = service, token
        self.connection = http.client.HTTPConnection("127.0.0.1", service.rest)

    def another_connection(self):
        return User(self.service, self.token)

    def __call__(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, f"/systems/{self.service.system}/v1{path}", json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            sys.exit(f"{method} {path}: {response.status} {text[:300]}")
        return json.loads(text) if text else None
