"""Systems over REST, seen from outside: an app to start, callers with tokens, and what their tests have in common."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import unittest

import endpoints
import server as stator
import waiting

PATIENCE = 30 * stator.slowness()

# Texts that nobody can see, or that hold what nobody can type.  A name is none of the second kind either.
UNSEEN = (" ", "\t \n", "\u00a0\u3000", "\u200b\u2060\ufeff", "a\x00b", "a\x1fb", "a\x7fb", "a\x9bb")
NO_NAMES = ("two\nlines", "a\tb", "a\u2028b")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def problems(self):
        return {detail["attribute"]: detail["problem"] for detail in self.json["details"]}


class App:
    """`stator app MODEL` on a folder."""

    patience = PATIENCE  # seconds for an answer

    def __init__(self, folder, model, *arguments, command="app", variables=None):
        self.folder, self.model, self.arguments, self.command = folder, model, arguments, command
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("STATOR_", "AWS_"))}
        self.environment |= variables or {}
        self.start()

    def start(self):
        store = ["--in-memory"] if stator.in_memory_only() and "--endpoint" not in self.arguments else []
        ports = ["--app-port", "0"] if self.command == "app" else ["--port", "0", "--console-port", "0"]
        models = [self.model] if self.command == "app" else ["--models", self.model]
        self.process = subprocess.Popen([stator.binary(), self.command, *models, *ports, "--data", self.folder, *store, *self.arguments],
                                        env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.welcome = ""
        while "Ctrl-C" not in self.welcome:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"it ended early: {self.process.stderr.read()}")
            self.welcome += line
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/systems", self.welcome)[1])

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def alive(self):
        return self.process.poll() is None

    def resident_bytes(self):
        return stator.status_bytes(self.process.pid, "VmRSS:")

    def peak_bytes(self):
        """The most that was resident since the start, or since forget_peak()."""
        return stator.status_bytes(self.process.pid, "VmHWM:")

    def forget_peak(self):
        stator.forget_peak(self.process.pid)

    def run(self, *arguments):
        return subprocess.run([stator.binary(), *arguments, "--data", self.folder], env=self.environment, text=True,
                              capture_output=True, timeout=PATIENCE, check=True).stdout.strip()  # fmt: skip

    def verify(self, *arguments):
        """The output of `stator model verify` for the data, in any place.  Not while an embedded app uses the data."""
        where = self.arguments[self.arguments.index("--endpoint") :][:2] if "--endpoint" in self.arguments else ("--data", self.folder)
        done = subprocess.run([stator.binary(), "model", "verify", self.model, *where, *arguments], env=self.environment, text=True,
                              capture_output=True, timeout=PATIENCE)  # fmt: skip
        return (done.stdout or done.stderr).strip()

    def token(self, subject, *arguments):
        return self.run("token", "--subject", subject, *arguments)

    def signed(self, claims):
        """A token as `stator token` makes it, without the start of a program, which a sanitizer makes slow."""
        def encoded(data):
            return base64.urlsafe_b64encode(data).decode().rstrip("=")

        secret = self.secret()
        text = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        return f"{text}.{encoded(hmac.digest(secret.encode(), text.encode(), hashlib.sha256))}"

    def secret(self):
        """The secret that signs its tokens."""
        return pathlib.Path(self.folder, "app_secret").read_text().strip()

    def raw(self, method, target, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        connection.request(method, target, body, dict(headers))
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        connection.close()
        return answer


class Caller:
    """Somebody with a token, or without one."""

    def __init__(self, app, prefix, token=None):
        self.app, self.prefix, self.token = app, prefix, token

    def __call__(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        return self.app.raw(method, path if path.startswith("/systems") else self.prefix + path, body, headers)

    def items(self, path):
        """All pages of a list."""
        found, token, mark = [], "", "&" if "?" in path else "?"
        while True:
            answer = self("GET", path + (f"{mark}nextToken={token}" if token else ""))
            assert answer.status == 200, answer.body
            found += answer.json["items"]
            token = answer.json.get("nextToken")
            if not token:
                return found


class Rest(unittest.TestCase):
    """Tests of one system.  Subclasses say which: `model` is a file, or a system that comes with Stator."""

    model = None
    prefix = None
    caller = Caller
    app_class = App
    arguments = ()
    variables = {}  # settings that a build without them may ignore
    command = "app"
    anywhere = True

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.app = cls.app_class(folder.name, cls.model, *cls.arguments, command=cls.command, variables=cls.variables)
        cls.addClassCleanup(lambda: cls.app.kill())
        cls.nobody = cls.caller(cls.app, cls.prefix)
        cls.admin = cls.caller(cls.app, cls.prefix, cls.app.token("root", "--role", "admin"))

    @classmethod
    def user(cls, subject, *roles):
        now = int(time.time())
        claims = {"sub": subject, **({"roles": roles} if roles else {}), "iat": now, "exp": now + 12 * 3600}
        return cls.caller(cls.app, cls.prefix, cls.app.signed(claims))

    def setUp(self):
        # A user of its own for each test, so that none sees what another left.
        self.name = f"{self.id().rsplit('.', 1)[-1]}"
        self.ann = self.user(f"ann-{self.name}")
        self.bob = self.user(f"bob-{self.name}")

    def expect(self, answer, status, code=None):
        self.assertEqual(answer.status, status, answer.body)
        if code:
            self.assertEqual(answer.json["code"], code)
            self.assertEqual(set(answer.json) - {"more"}, {"code", "message", "details"})
        return answer

    def expect_visible(self, send, body, names=(), texts=()):
        """These members of a body are names, which are one line, or texts of many lines; each can be seen."""
        for name in (*names, *texts):
            for text in (*UNSEEN, *(NO_NAMES if name in names else ())):
                with self.subTest(name=name, text=text):
                    self.assertIn(name, self.expect(send({**body, name: text}), 400, "Invalid").problems())
        many = {name: "two\n\tlines\r\n" for name in texts}
        self.assertLess(send({**body, **many}).status, 300)

    def kill_amid(self, work, clients=8):
        """Lets clients call work(client, enough) until the server is killed, which it is once one of them has called enough()."""
        enough = threading.Event()

        def run(client):
            try:
                work(client, enough.set)
            except (OSError, http.client.HTTPException):
                pass  # the server is gone

        running = [threading.Thread(target=run, args=(client,)) for client in range(clients)]
        for one in running:
            one.start()
        enough.wait(PATIENCE)
        self.app.kill()
        for one in running:
            one.join()

    def wait_until(self, condition):
        """Waits for the consistency manager, which works after the answer."""
        waiting.until(condition, "the changes are propagated", PATIENCE, 0.05)


class AtStator:
    """The data is at a Stator elsewhere."""

    @classmethod
    def setUpClass(cls):
        server = stator.Server().start()
        cls.addClassCleanup(server.__exit__, None)
        cls.arguments = (*cls.arguments, "--endpoint", server.endpoint)
        super().setUpClass()


class AtDynoxide:
    """The data is at a database that is not ours."""

    @classmethod
    def setUpClass(cls):
        endpoints.install()
        if not pathlib.Path(endpoints.DYNOXIDE[0]).exists():
            raise unittest.SkipTest("there is no Dynoxide for this machine")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        process, url = endpoints.start(endpoints.DYNOXIDE, folder.name)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        cls.arguments = (*cls.arguments, "--endpoint", url)
        super().setUpClass()
        cls.app.patience = 4 * PATIENCE  # for 10,000 items it needs half a minute and more when other suites run beside this one


def everywhere(*tests):
    """The same tests, wherever the data is.  Once is enough: what sanitizers look at is the same code."""
    if stator.slowness() > 1:
        return {}
    return {f"{what.__name__}{where.__name__}": type(f"{what.__name__}{where.__name__}", (where, what), {"__module__": what.__module__})
            for where in (AtStator, AtDynoxide) for what in tests}  # fmt: skip
