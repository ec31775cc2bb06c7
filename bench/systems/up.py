"""A `stator up` to measure: its ports, its callers, and connections that cost the client little."""

import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
import dynamo  # noqa: E402
import server as stator  # noqa: E402


def check(holds, message):
    if not holds:
        sys.exit(f"wrong: {message}")


class Up:
    """One system in `stator up`, on a folder of its own.  A context manager."""

    def __init__(self, system, arguments=()):
        self.system, self.arguments = system, list(arguments)
        self.folder = tempfile.TemporaryDirectory(prefix="stator-bench-")
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
        self.api, self.rest = (int(re.search(pattern, welcome)[1]) for pattern in (r"API +http://[^:]+:(\d+)", r"Console +http://[^:]+:(\d+)"))
        self.endpoint = f"http://127.0.0.1:{self.api}"
        self.database = dynamo.Connection(self.endpoint, timeout=600)

    def token(self, subject, *roles):
        words = [word for role in roles for word in ("--role", role)]
        return subprocess.run([stator.binary(), "token", "--subject", subject, *words, "--data", self.folder.name], check=True, text=True,
                              capture_output=True).stdout.strip()  # fmt: skip

    def user(self, subject, *roles):
        return User(self, self.token(subject, *roles))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def rest_request(self, token, method, path, body=None):
        """The bytes of a request to the system."""
        text = b"" if body is None else json.dumps(body).encode()
        head = (f"{method} /systems/{self.system}/v1{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n")  # fmt: skip
        return head.encode() + text

    def api_request(self, operation, body):
        """The bytes of a signed request to the DynamoDB API."""
        text = json.dumps(body).encode()
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": dynamo.TARGET + operation}
        headers |= self.database.signature(headers, text) | {"Host": f"127.0.0.1:{self.api}", "Content-Length": str(len(text))}
        return ("POST / HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n").encode() + text


class User:
    """Somebody with a token, on one connection that is kept."""

    def __init__(self, up, token):
        self.up, self.token = up, token
        self.connection = http.client.HTTPConnection("127.0.0.1", up.rest, timeout=600)

    def another_connection(self):
        return User(self.up, self.token)

    def __call__(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, f"/systems/{self.up.system}/v1{path}", json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        check(response.status < 300, f"{method} {path}: {response.status} {text[:300]}")
        return json.loads(text) if text else None


class Wire:
    """A keep-alive connection that sends bytes and reads one answer: (status, body)."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 600)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def call(self, request):
        self.socket.sendall(request)
        data = self.rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.receive()
        head = data[:end].lower()
        length = int(found[1]) if (found := re.search(rb"content-length: (\d+)", head)) else 0
        parts, got = [data[end + 4 :]], len(data) - end - 4
        while got < length:
            parts.append(self.receive())
            got += len(parts[-1])
        body = b"".join(parts)
        self.rest = body[length:]
        return int(head[9:12]), body[:length]

    def receive(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data
