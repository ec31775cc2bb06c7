"""Access: web pages, lost access keys, links planted in a data folder, other users of the machine."""

import contextlib
import datetime
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import re
import resource
import ssl
import stat
import subprocess
import tempfile
import time
import unittest

import server as stator
import waiting

PATIENCE = 20 * stator.slowness()
LISTED = b'{"TableNames":[]}'


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Stator:
    """A `stator` command that serves, in a folder of its own; its welcome has been read."""

    def __init__(self, folder, command, *arguments, preexec=None, trust=None, variables=None):
        self.folder, self.trust = pathlib.Path(folder), trust
        self.log_path = self.folder / f"log-{time.monotonic_ns()}.txt"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [stator.binary(), command, *ports(command), *arguments], cwd=folder, env=environment() | (variables or {}), text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, preexec_fn=preexec)  # fmt: skip
        self.welcome = ""
        while "Ctrl-C" not in self.welcome:
            line = self.process.stdout.readline()
            if not line:
                self.process.wait()
                raise RuntimeError(f"it ended early: {self.log()}")
            self.welcome += line
        found = dict(re.findall(r"(DynamoDB API|Console|System) +(https?://\S+?:\d+)", self.welcome))
        self.urls = {"api": found.get("DynamoDB API"), "console": found.get("Console") or found.get("System")}

    def log(self):
        return self.log_path.read_text()

    def port(self, of="api"):
        return int(self.urls[of].rsplit(":", 1)[1])

    def connect(self, of="api", address="127.0.0.1"):
        if self.urls[of].startswith("https"):
            return http.client.HTTPSConnection(address, self.port(of), timeout=PATIENCE, context=ssl.create_default_context(cafile=self.trust))
        return http.client.HTTPConnection(address, self.port(of), timeout=PATIENCE)

    def send(self, of, method, path, headers=(), body=None, version=11):
        """The answer to a request with exactly these headers (pairs, or a dictionary) and a Content-Length."""
        with contextlib.closing(self.connect(of)) as connection:
            connection._http_vsn, connection._http_vsn_str = version, f"HTTP/1.{version - 10}"
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            pairs = list(headers.items() if isinstance(headers, dict) else headers)
            if version == 11 and "host" not in [name.lower() for name, _ in pairs]:
                pairs.insert(0, ("Host", f"127.0.0.1:{self.port(of)}"))
            for name, value in pairs:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body.encode() if isinstance(body, str) else body)
            return Answer(connection.getresponse())

    def call(self, operation, headers=(), body="{}", **more):
        fields = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        return self.send("api", "POST", "/", fields | dict(headers), body, **more)

    def console(self, operation, headers=(), body="{}"):
        return self.send("console", "POST", f"/api/{operation}", {"X-Stator-Console": "1"} | dict(headers), body)

    def sign_in(self, key, secret):
        return self.send("console", "POST", "/session", {"X-Stator-Console": "1"},
                         json.dumps({"accessKeyId": key, "secretAccessKey": secret}))  # fmt: skip

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)


def ports(command):
    return {"app": ["--app-port", "0"], "serve": ["--port", "0"], "up": ["--port", "0", "--console-port", "0"]}[command]


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("STATOR_", "AWS_"))}


def run(folder, *arguments):
    return subprocess.run([stator.binary(), *arguments], cwd=folder, env=environment(), text=True, capture_output=True,
                          timeout=PATIENCE, check=False)  # fmt: skip


def signed(key, secret, host, operation="ListTables", body="{}"):
    """The headers of a request to the API that is signed as SDKs do it."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    target = f"DynamoDB_20120810.{operation}"
    canonical = "\n".join(["POST", "/", "", f"host:{host}", f"x-amz-date:{now}", f"x-amz-target:{target}", "",
                           "host;x-amz-date;x-amz-target", hashlib.sha256(body.encode()).hexdigest()])  # fmt: skip
    scope = f"{now[:8]}/us-east-1/dynamodb/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    derived = ("AWS4" + secret).encode()
    for part in (now[:8], "us-east-1", "dynamodb", "aws4_request"):
        derived = hmac.new(derived, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()
    return {"Host": host, "X-Amz-Date": now,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders=host;x-amz-date;x-amz-target, "
                             f"Signature={signature}"}  # fmt: skip


def make_certificate(folder, *key_options):
    made = subprocess.run(
        ["openssl", "req", "-x509", *(key_options or ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")), "-nodes", "-days", "1",
         "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
    assert made.returncode == 0, made.stderr
    (folder / "key.pem").chmod(0o600)
    return ["--tls-cert", "cert.pem", "--tls-key", "key.pem"]


class Speakers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "stator-data"
        self.keys = self.data / "keys.yaml"

    def start(self, command, *arguments, **options):
        server = Stator(self.folder, command, *arguments, **options)
        self.addCleanup(server.kill)
        return server

    def run_stator(self, *arguments):
        ran = run(self.folder, *arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran

    def add_key(self):
        return re.findall(r"=(\w+)$", self.run_stator("key", "add").stdout, re.MULTILINE)

    def eventually(self, condition):
        waiting.until(condition, "it happens", PATIENCE, 0.02)


class WebPages(unittest.TestCase):
    """A browser on this machine runs pages of strangers, and DNS can make any name mean 127.0.0.1."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        # A build without that setting takes no notice of it.
        cls.server = Stator(folder.name, "up", "--in-memory", "--cors-origins", "https://page.example", "--models", "shops",
                            variables={"STATOR_ALLOWED_HOSTS": "db.example,Other.example"})  # fmt: skip
        cls.addClassCleanup(cls.server.kill)
        made = cls.server.call("CreateTable", body=json.dumps({
            "TableName": "Precious", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}))  # fmt: skip
        assert made.status == 200, made.body

    def everywhere(self, headers, version=11):
        """The answers of the API, the console and a system."""
        body = '{"TableName":"Precious"}'
        yield "api", self.server.call("DescribeTable", headers, body, version=version)
        yield "page", self.server.send("api", "GET", "/", headers, version=version)
        yield "metrics", self.server.send("api", "GET", "/metrics", headers, version=version)
        fields = dict(headers) | {"X-Stator-Console": "1"}
        yield "console", self.server.send("console", "POST", "/api/DescribeTable", fields, body, version=version)
        yield "system", self.server.send("console", "GET", "/systems", headers, version=version)

    def expect(self, status, headers, word="", version=11):
        for where, answer in self.everywhere(headers, version):
            with self.subTest(where, headers=headers):
                self.assertEqual(answer.status, status, answer.body)
                if status == 403:
                    self.assertIn(word, answer.json["message"])

    def test_a_name_that_is_not_this_machines_is_refused(self):
        for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "10.1.2.3", "0.0.0.0:8000", "x"):
            self.expect(403, {"Host": host}, f"--allowed-hosts {host.split(':')[0]} (the setting allowed_hosts)")
        answer = self.server.call("DeleteTable", {"Host": "evil.example"}, '{"TableName":"Precious"}')
        self.assertEqual((answer.status, answer.json["__type"]), (403, "com.amazon.coral.service#AccessDeniedException"))
        self.assertEqual(self.server.call("DescribeTable", body='{"TableName":"Precious"}').status, 200, "it is still there")

    def test_names_of_this_machine_and_configured_ones_are_taken(self):
        for host in ("localhost", "LOCALHOST:1", "app.localhost:8000", "127.0.0.1", "127.9.9.9:8000", "[::1]:8000", "db.example",
                     "other.EXAMPLE:443"):  # fmt: skip
            self.expect(200, {"Host": host})

    def test_a_page_of_another_origin_is_refused(self):
        for origin in ("http://evil.example", "http://localhost:3000", "null", "http://page.example", "file://"):
            self.expect(403, {"Host": "localhost:8000", "Origin": origin}, "(the setting cors_origins)")

    def test_a_page_of_its_own_or_a_configured_origin_is_taken(self):
        for origin in ("http://localhost:8000", "https://page.example"):
            self.expect(200, {"Host": "localhost:8000", "Origin": origin})

    def test_a_rebound_name_is_refused_though_its_origin_fits(self):
        self.expect(403, {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}, "allowed_hosts")

    def test_old_clients_without_a_host_are_not_pages(self):
        self.expect(200, {}, version=10)
        self.expect(403, {"Origin": "http://evil.example"}, version=10)

    def test_health_is_told_to_everybody(self):
        answer = self.server.send("api", "GET", "/health", {"Host": "x", "Origin": "http://evil.example"})
        self.assertEqual(answer.status, 200, answer.body)

    def test_refusals_repeat_nothing_unprintable(self):
        answer = self.server.call("ListTables", {"Host": 'a"\\\u00e4' + "x" * 4000})
        self.assertEqual(answer.status, 403)
        self.assertIn("Host a???xx", answer.json["message"])
        self.assertLess(len(answer.body), 1000)


class AppPages(Speakers):
    def test_an_app_on_this_machine_looks_at_host_and_origin(self):
        app = self.start("app", "shops", "--in-memory")
        for headers, status in (({"Host": "evil.example"}, 403), ({"Host": "localhost", "Origin": "http://evil.example"}, 403),
                                ({"Host": "localhost"}, 200)):  # fmt: skip
            self.assertEqual(app.send("console", "GET", "/systems", headers).status, status, headers)
            self.assertEqual(app.send("console", "GET", "/health", headers).status, 200, headers)

    def test_every_page_and_no_keys_is_warned_of(self):
        server = self.start("serve", "--cors-origins", "*")
        self.assertIn("make a key with `stator key add`", server.log())
        self.assertEqual(server.call("ListTables", {"Origin": "null"}).status, 200)
        server.stop()
        self.add_key()
        self.assertNotIn("open_to_all_web_pages", self.start("serve", "--cors-origins", "*").log())


class Console(Speakers):
    def setUp(self):
        super().setUp()
        self.key, self.secret = self.add_key()

    def token(self, answer):
        self.assertEqual(answer.status, 204, answer.body)
        cookie = answer.headers["Set-Cookie"]
        return re.match(r"stator_session=([0-9a-f]{64});", cookie)[1], cookie

    def test_asks_for_a_key_once_there_are_keys(self):
        server = self.start("up", "--in-memory")
        self.assertEqual(server.console("Scan").status, 401, "the console's port passes by the access keys")
        self.assertEqual(server.console("Scan", {"Cookie": "stator_session=" + "0" * 64}).status, 401)
        for key, secret in ((self.key, "wrong"), ("STATNOSUCHKEY", self.secret), ("", "")):
            answer = server.sign_in(key, secret)
            self.assertEqual((answer.status, answer.headers["Set-Cookie"]), (401, None))
        self.assertEqual(server.send("console", "POST", "/session", {}, "{}").status, 403, "only the page itself may ask")
        self.assertEqual(server.send("console", "POST", "/session", {"X-Stator-Console": "1"}, "[" * 3000).status, 400)
        token, cookie = self.token(server.sign_in(self.key, self.secret))
        for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"):
            self.assertIn(word, cookie.split("; "))
        self.assertNotIn("Domain", cookie)
        session = {"Cookie": f"theme=dark; stator_session={token}"}
        answer = server.console("ListTables", session)
        self.assertEqual((answer.status, answer.body), (200, LISTED))
        self.assertEqual(server.send("console", "GET", "/session", session).json, {"required": True, "accessKeyId": self.key})
        self.assertEqual(server.console("ListTables", session | {"Host": "evil.example"}).status, 403)
        self.assertEqual(server.call("ListTables", session).status, 400, "a session is not a signature")
        self.assertEqual(server.send("console", "DELETE", "/session", session | {"X-Stator-Console": "1"}).status, 204)
        self.assertEqual(server.console("ListTables", session).status, 401)
        self.assertNotIn(self.secret, server.log())

    def test_a_session_ends_with_its_key(self):
        server = self.start("up", "--in-memory")
        token, _ = self.token(server.sign_in(self.key, self.secret))
        session = {"Cookie": f"stator_session={token}"}
        self.assertEqual(server.console("ListTables", session).status, 200)
        self.run_stator("key", "remove", self.key)
        self.eventually(lambda: server.console("ListTables", session).status == 401)
        self.assertIn("stator key add", server.console("ListTables", session).json["message"])

    def test_attempts_to_sign_in_are_bounded(self):
        server = self.start("up", "--in-memory")
        self.assertIn(429, [server.sign_in(self.key, "guess").status for _ in range(200)])
        self.assertEqual(server.sign_in(self.key, self.secret).status, 204, "guesses lock nobody out")
        self.assertLess(server.log().count("sign_in_refused"), 100)
        self.assertIn('"client":"127.0.0.1"', server.log())

    def test_listens_beyond_this_machine_over_tls_only(self):
        server = self.start("up", "--in-memory", "--host", "0.0.0.0")
        with self.assertRaises(OSError):  # every address of 127.0.0.0/8 is this machine's, and 0.0.0.0 listens on all of them
            server.connect("console", "127.0.0.2").connect()
        server.stop()
        server = self.start("up", "--in-memory", "--host", "0.0.0.0", "--models", "shops", *make_certificate(self.folder),
                            trust=self.folder / "cert.pem")  # fmt: skip
        self.assertTrue(server.urls["console"].startswith("https://0.0.0.0:"), server.welcome)
        self.assertEqual(server.console("ListTables").status, 401)
        token, cookie = self.token(server.sign_in(self.key, self.secret))
        self.assertIn("Secure", cookie.split("; "))
        session = {"Cookie": f"stator_session={token}", "Host": "db.example"}
        self.assertEqual(server.console("ListTables", session | {"Origin": "https://db.example"}).status, 200)
        self.assertEqual(server.console("ListTables", session | {"Origin": "https://evil.example"}).status, 403)
        self.assertEqual(server.send("console", "GET", "/systems").status, 401, "tells strangers what is served")

    def test_needs_no_key_where_there_are_none(self):
        self.run_stator("key", "remove", self.key)
        self.assertEqual(self.start("up", "--in-memory").console("ListTables").body, LISTED)

    def test_with_keys_the_api_takes_any_name(self):
        server = self.start("serve", "--in-memory")
        headers = signed(self.key, self.secret, "db.example")
        self.assertEqual(server.call("ListTables", headers | {"Origin": "https://elsewhere.example"}).body, LISTED)


class LostKeys(Speakers):
    """A file that vanishes must not open the door."""

    def setUp(self):
        super().setUp()
        self.key, self.secret = self.add_key()
        self.start("serve").stop()

    def expect_shut(self, server):
        for headers in ({}, signed("any", "thing", "localhost"), signed(self.key, self.secret, "localhost")):
            answer = server.call("ListTables", headers)
            self.assertEqual(answer.status, 400, answer.body)
            self.assertIn("`stator key add`, or starts it with --allow-unsigned", answer.json["message"])
        self.assertEqual(server.send("api", "GET", "/health").status, 200)
        self.assertRegex(server.log(), r"all_requests_refused.*stator key add --data \./stator-data")

    def test_keep_the_door_shut_after_a_restart(self):
        ways = {
            "missing": lambda: None,
            "emptied": lambda: self.keys.write_text(""),
            "a link to nothing": lambda: self.keys.symlink_to("nowhere"),
            "no keys in it": lambda: self.keys.write_text("version: 1\nkeys: []\n"),
            "zeros": lambda: self.keys.write_bytes(bytes(300)),
        }
        for name, way in ways.items():
            with self.subTest(name):
                self.keys.unlink(missing_ok=True)
                way()
                if self.keys.exists():
                    self.keys.chmod(0o600)
                server = self.start("serve")
                self.expect_shut(server)
                server.stop()

    def test_keep_the_door_shut_after_kill_9_and_a_new_key_opens_it(self):
        server = self.start("serve")
        server.kill()
        self.keys.unlink()
        server = self.start("serve")
        self.expect_shut(server)
        key, secret = self.add_key()
        self.eventually(lambda: server.call("ListTables", signed(key, secret, "localhost")).status == 200)

    def test_keep_the_door_of_a_running_server_shut(self):
        server = self.start("serve")
        self.keys.unlink()
        self.eventually(lambda: "all_requests_refused" in server.log())
        self.expect_shut(server)

    def test_removing_the_last_key_needs_a_word_to_open_the_door(self):
        removed = self.run_stator("key", "remove", self.key)
        self.assertIn("--allow-unsigned", removed.stderr)
        server = self.start("serve")
        self.expect_shut(server)
        server.stop()
        server = self.start("serve", "--allow-unsigned")
        self.assertEqual(server.call("ListTables").body, LISTED)
        self.assertIn("unsigned_requests_accepted", server.log())
        server.stop()
        self.assertEqual(self.start("serve").call("ListTables").body, LISTED, "the word was for good")

    def test_a_file_that_others_can_read_needs_chmod_alone(self):
        self.keys.chmod(0o644)
        server = self.start("serve")
        self.assertRegex(server.log(), r"all_requests_refused.*chmod 600")
        self.assertNotIn("key add", server.log())

    def test_the_word_does_not_overrule_keys(self):
        server = self.start("serve", "--allow-unsigned")
        self.assertIn("allow_unsigned is ignored", server.log())
        self.assertEqual(server.call("ListTables").status, 400)
        self.assertEqual(server.call("ListTables", signed(self.key, self.secret, "localhost")).body, LISTED)


class OtherUsers(Speakers):
    """Those who share the machine, and the service's own user where root works in its folder."""

    SERVICE = 12345

    def owner(self, path):
        return path.lstat().st_uid

    def test_keys_are_written_through_no_link(self):
        self.data.mkdir()
        target = self.folder / "precious"
        target.write_text("untouched")
        target.chmod(0o644)
        if os.geteuid() == 0:
            os.chown(self.data, self.SERVICE, self.SERVICE)
        for name in ("keys.yaml.new", "app_secret.new"):
            (self.data / name).symlink_to(target)
        self.add_key()
        self.run_stator("token", "--subject", "ann")
        self.assertEqual((target.read_text(), target.stat().st_mode & 0o777, target.stat().st_uid), ("untouched", 0o644, os.geteuid()))
        for name in ("keys.yaml", "app_secret"):
            self.assertTrue(stat.S_ISREG((self.data / name).lstat().st_mode), name)
            self.assertEqual((self.data / name).stat().st_mode & 0o777, 0o600, name)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_what_root_makes_in_a_services_folder_belongs_to_the_service(self):
        self.data.mkdir()
        os.chown(self.data, self.SERVICE, self.SERVICE)
        self.add_key()
        self.run_stator("token", "--subject", "ann")
        self.assertEqual({name: self.owner(self.data / name) for name in ("keys.yaml", "app_secret")},
                         {"keys.yaml": self.SERVICE, "app_secret": self.SERVICE})  # fmt: skip

    def test_cannot_read_the_data(self):
        previous = os.umask(0o022)
        self.addCleanup(os.umask, previous)
        server = self.start("up", "--models", "shops")
        self.assertEqual(server.call("ListTables").status, 200)
        server.stop()
        self.assertEqual(self.data.stat().st_mode & 0o777, 0o700)
        modes = {path.name: path.stat().st_mode & 0o777 for path in self.data.iterdir()}
        self.assertGreater(len(modes), 5)
        self.assertEqual({name: oct(mode) for name, mode in modes.items() if mode & 0o077}, {})
        self.assertNotIn("data_folder_open_to_others", server.log())

    def test_are_told_of_when_a_folder_is_open_to_them(self):
        self.data.mkdir(mode=0o755)
        self.data.chmod(0o755)
        self.assertIn("chmod 700 ./stator-data", self.start("serve").log())


class Tls(Speakers):
    def test_a_private_key_that_others_can_read_is_refused(self):
        files = make_certificate(self.folder)
        for mode in (0o644, 0o640, 0o602):
            (self.folder / "key.pem").chmod(mode)
            ran = run(self.folder, "serve", "--in-memory", "--port", "0", *files)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("key.pem: can be read or written by other users of this machine: chmod 600 key.pem", ran.stderr)

    def handshake(self, server, *options):
        done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port()}", *options], input="", text=True,
                              capture_output=True, timeout=PATIENCE, check=False)  # fmt: skip
        return done.returncode == 0 and "Cipher is (NONE)" not in done.stdout

    def test_old_ciphers_are_not_spoken(self):
        server = self.start("serve", "--in-memory", *make_certificate(self.folder, "-newkey", "rsa:2048"))
        for cipher in ("ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305"):
            self.assertTrue(self.handshake(server, "-tls1_2", "-cipher", cipher), cipher)
        for cipher in ("ECDHE-RSA-AES256-SHA384", "ECDHE-RSA-AES128-SHA", "AES128-GCM-SHA256", "AES256-SHA256", "AES128-SHA"):
            self.assertFalse(self.handshake(server, "-tls1_2", "-cipher", cipher), cipher)
        self.assertFalse(self.handshake(server, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"))
        self.assertTrue(self.handshake(server, "-tls1_3"))


class Refusals(Speakers):
    def test_signatures_that_are_refused_are_logged_and_not_too_often(self):
        key, secret = self.add_key()
        server = self.start("serve", "--in-memory")
        server.call("ListTables", signed(key, "wrong" * 8, "localhost"))
        server.call("ListTables", signed("STATAAAABBBBCCCCDDDD", secret, "localhost"))
        server.call("ListTables", signed(secret, secret, "localhost"))
        server.call("ListTables", {"Authorization": f"AWS4-HMAC-SHA256 {secret}"})
        log = server.log()
        for word in (f'"key":"{key}"', '"client":"127.0.0.1"', "does not match", "STATAAAABBBBCCCCDDDD", "security token included in the request is invalid"):
            self.assertIn(word, log)
        self.assertNotIn(secret, log)
        for _ in range(300):
            self.assertEqual(server.call("ListTables").status, 400)
        self.assertLess(server.log().count("signature_refused"), 100)

    def test_two_authorization_headers_are_refused(self):
        key, secret = self.add_key()
        server = self.start("up", "--in-memory", "--models", "shops")
        fields = [("Content-Type", "application/x-amz-json-1.0"), ("X-Amz-Target", "DynamoDB_20120810.ListTables"),
                  *signed(key, secret, "localhost").items()]  # fmt: skip
        self.assertEqual(server.send("api", "POST", "/", fields, "{}").status, 200)
        answer = server.send("api", "POST", "/", [*fields, fields[-1]], "{}")
        self.assertEqual((answer.status, answer.json["message"]), (400, "Found more than one 'Authorization' header."))
        token = self.run_stator("token", "--subject", "ann").stdout.strip()
        bearer = ("Authorization", f"Bearer {token}")
        path = "/systems/shops/v1/shops?country=DE"
        self.assertNotEqual(server.send("console", "GET", path, [bearer]).status, 401)
        for second in (bearer, ("Authorization", "Bearer x"), ("authorization", "")):
            for pair in ([bearer, second], [second, bearer]):
                answer = server.send("console", "GET", path, pair)
                self.assertEqual((answer.status, answer.json["message"]), (401, "there is more than one Authorization header"))

    def test_tokens_that_are_refused_are_logged_and_not_too_often(self):
        app = self.start("app", "shops", "--in-memory")
        token = self.run_stator("token", "--subject", "ann").stdout.strip()
        for _ in range(200):
            answer = app.send("console", "GET", "/systems/shops/v1/shops?country=DE", {"Authorization": f"Bearer {token[:-2]}"})
            self.assertEqual(answer.status, 401)
        log = app.log()
        self.assertIn("token_refused", log)
        self.assertIn('"reason":"the token ', log)
        self.assertIn('"client":"127.0.0.1"', log)
        self.assertNotIn(token[:40], log)
        self.assertLess(log.count("token_refused"), 100)

    def test_an_app_that_others_reach_describes_itself_to_those_with_a_token(self):
        told = ("/systems", "/", "/metrics", "/systems/shops/v1/openapi.json")
        app = self.start("app", "shops", "--in-memory", "--host", "0.0.0.0")
        bearer = {"Authorization": "Bearer " + self.run_stator("token", "--subject", "ann").stdout.strip()}
        for path in told:
            answer = app.send("console", "GET", path)
            self.assertEqual(answer.status, 401, path)
            self.assertIn("public_info", answer.json["message"])
            self.assertEqual(app.send("console", "GET", path, {"Authorization": "Bearer x"}).status, 401, path)
            self.assertEqual(app.send("console", "GET", path, bearer).status, 200, path)
        for path in ("/health", "/systems/shops/v1/"):
            self.assertEqual(app.send("console", "GET", path).status, 200, path)
        app.stop()
        app = self.start("app", "shops", "--in-memory", "--host", "0.0.0.0", "--public-info")
        self.assertEqual([app.send("console", "GET", path).status for path in told], [200] * len(told))

    def test_writes_that_are_refused_while_read_only_do_not_fill_the_log(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))

        server = self.start("serve", preexec=small_files)
        server.call("CreateTable", body=json.dumps({
            "TableName": "Full", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}))  # fmt: skip
        text = os.urandom(100_000).hex()
        put = lambda i: json.dumps({"TableName": "Full", "Item": {"p": {"S": str(i)}, "x": {"S": text}}})  # noqa: E731
        answers = [server.call("PutItem", body=put(i)).status for i in range(200)]
        self.assertGreater(answers.count(500), 100)
        self.assertLess(len([line for line in server.log().splitlines() if "request_failed" in line]), 10, server.log()[-2000:])


if __name__ == "__main__":
    unittest.main()
