"""Requests to the DynamoDB API that try to take the server's memory, its descriptors or its time."""

import contextlib
import gzip
import json
import os
import re
import resource
import socket
import subprocess
import tempfile
import threading
import unittest

import dynamo
import server as stator
import waiting

MB = 1 << 20
TABLE = {"TableName": "Things", "BillingMode": "PAY_PER_REQUEST",
         "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
         "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}]}  # fmt: skip
CLIENTS = 64


def request(operation, body, **headers):
    lines = {"Host": "localhost", "Content-Type": "application/x-amz-json-1.0",
             "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Length": str(len(body))}  # fmt: skip
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


class Limited(stator.Server):
    """With a memory_limit: as a variable, because a build without that setting takes no notice of it, and can be tested, too."""

    def __init__(self, data, limit):
        super().__init__(data)
        self.limit = limit

    def command(self):
        return ["env", f"STATOR_MEMORY_LIMIT={self.limit}", *super().command()]


def connect(server, timeout=60):
    return socket.create_connection(("127.0.0.1", server.port), timeout)


def read_answer(sock):
    """(status, length of the body), reading all of it and keeping nothing."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65536)
        if not part:
            raise ConnectionError("closed before an answer")
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
    got = len(body)
    while got < length:
        part = sock.recv(MB)
        if not part:
            raise ConnectionError("closed in the middle of an answer")
        got += len(part)
    return int(head.split(b" ", 2)[1]), length


def metric(server, name, connection=None):
    """The sum of a metric's values; over a connection that is open already, where no other can be had."""
    connection = connection or server.connect()
    connection.http.request("GET", "/metrics")
    text = connection.http.getresponse().read().decode()
    return sum(float(value) for value in re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))


def until(condition, what):
    waiting.until(condition, what, 60, 0.02)


class Bystander:
    """Reads one small item over and over while others misbehave; every answer must be right."""

    def __init__(self, server):
        self.connection, self.failures, self.answered, self.stopping = server.connect(), [], 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping:
            try:
                item = self.connection.ok("GetItem", TableName="Things", Key={"k": {"S": "small"}})["Item"]
                assert item["v"] == {"S": "here"}, item
                self.answered += 1
            except Exception as error:  # noqa: BLE001: whatever it is, it is a failure
                self.failures.append(repr(error))
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.thread.join()


def at_once(server, bodies, clients=CLIENTS):
    """Every client sends one of the requests and reads its answer; the statuses."""
    statuses = []

    def run(number):
        with contextlib.suppress(OSError), connect(server) as sock:
            sock.sendall(bodies[number % len(bodies)])
            statuses.append(read_answer(sock)[0])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


class Memory(unittest.TestCase):
    """With memory_limit 512MB: the peak stays below 640 MB, and a bystander is served throughout."""

    limit = 512 * MB
    data = None
    items = 45

    @classmethod
    def setUpClass(cls):
        cls.server = Limited(cls.data, cls.limit).start()
        cls.addClassCleanup(cls.server.__exit__, None)
        db = cls.server.connect()
        db.ok("CreateTable", **TABLE)
        db.ok("PutItem", TableName="Things", Item={"k": {"S": "small"}, "v": {"S": "here"}})
        # Each control character is six bytes of JSON: 45 of these are an answer of 100 MB.
        for number in range(cls.items):
            db.ok("PutItem", TableName="Things", Item={"k": {"S": f"large{number}"}, "v": {"S": "\x01" * 380_000}})
        keys = [{"k": {"S": f"large{number}"}} for number in range(45)]
        cls.large_read = request("BatchGetItem", json.dumps({"RequestItems": {"Things": {"Keys": keys}}}).encode())

    def setUp(self):
        self.server.forget_peak()

    def expect_bounded(self, bodies, statuses, clients=CLIENTS):
        with Bystander(self.server) as bystander:
            got = at_once(self.server, bodies, clients)
            before = bystander.answered
            until(lambda: bystander.answered > before or bystander.failures, "the bystander is answered")
        self.assertEqual(bystander.failures, [])
        self.assertTrue(self.server.alive())
        self.assertEqual(set(got) - set(statuses), set())
        self.assertGreater(len(got), clients // 2, "most got an answer")
        self.assertLess(self.server.peak_bytes(), self.limit * 5 // 4)

    def test_large_answers_to_many_at_once(self):
        self.expect_bounded([self.large_read], {200, 400})

    def test_large_bodies_of_tiny_values(self):
        ones = b'{"TableName":"Things","Item":{"k":{"S":"x"},"v":{"L":[' + b",".join([b'{"N":"1"}'] * 1_500_000) + b"]}}}"
        marks = b'{"TableName":"Things","Item":[' + b",".join([b"1"] * 7_900_000) + b"]}"
        self.expect_bounded([request("PutItem", ones), request("PutItem", marks)], {400, 503})

    def test_members_that_are_longer_when_they_are_written_again(self):
        # Each 1e15 is 5 bytes here and 17 as an integer, and so 5 MB become more than a request may have.
        body = b'{"TableName":"Nope","x":[' + b"1e15," * 1_050_000 + b"0]}"
        self.expect_bounded([request("UpdateTable", body)], (400, 500, 503), clients=2)

    def test_small_bodies_that_inflate_to_large_ones(self):
        bomb = gzip.compress(b'{"TableName":"Things","Item":[' + b"1," * 8_000_000 + b"1]}")
        self.expect_bounded([request("PutItem", bomb, Content_Encoding="gzip")], {400})
        larger = gzip.compress(b" " * (17 * MB))
        with connect(self.server) as sock:
            sock.sendall(request("PutItem", larger, Content_Encoding="gzip"))
            answer = sock.recv(65536)
        self.assertIn(b" 413 ", answer)
        self.assertIn(b"the setting max_body_bytes", answer)

    def put_dense_items(self, count):
        """400 KB of tiny values are several megabytes of JSON, and many more once they are decoded."""
        db = self.server.connect()
        for number in range(count):
            db.ok("PutItem", TableName="Things", Item={"k": {"S": f"dense{number}"}, "v": {"L": [{"NULL": True}] * 130_000}})
        self.server.forget_peak()

    def test_transactions_over_items_that_unfold(self):
        self.put_dense_items(20)
        keys = [{"TableName": "Things", "Key": {"k": {"S": f"dense{number}"}}} for number in range(20)]
        value = {":w": {"N": "1"}}
        update = [{"Update": key | {"UpdateExpression": "SET w = :w", "ExpressionAttributeValues": value}} for key in keys]
        check = [{"ConditionCheck": key | {"ConditionExpression": "attribute_not_exists(k)",
                                           "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}} for key in keys]  # fmt: skip
        bodies = [request("TransactWriteItems", json.dumps({"TransactItems": items}).encode())
                  for items in (update, check, update[:9], check[:9])]  # fmt: skip
        self.expect_bounded(bodies, {200, 400})

    def test_projections_of_items_that_unfold(self):
        keys = [{"k": {"S": f"large{number}"}} for number in range(45)]
        read = {"RequestItems": {"Things": {"Keys": keys, "ProjectionExpression": "k"}}}
        self.expect_bounded([request("BatchGetItem", json.dumps(read).encode())], {200, 400})

    def test_a_large_answer_is_held_about_twice(self):
        """While it grows; and so is one of items that were projected, though they are decoded for that."""
        self.put_dense_items(40)
        keys = [{"k": {"S": f"dense{number}"}} for number in range(40)]
        gets = [{"Get": {"TableName": "Things", "Key": key, "ProjectionExpression": "k, v"}} for key in keys[:15]]
        for operation, body in (
            ("BatchGetItem", {"RequestItems": {"Things": {"Keys": keys}}}),
            ("BatchGetItem", {"RequestItems": {"Things": {"Keys": keys, "ProjectionExpression": "k, v"}}}),
            ("TransactGetItems", {"TransactItems": gets}),
        ):
            with self.subTest(operation, projected="ProjectionExpression" in str(body)), connect(self.server) as sock:
                self.server.forget_peak()
                before = self.server.peak_bytes()
                sock.sendall(request(operation, json.dumps(body).encode()))
                status, length = read_answer(sock)
                self.assertEqual(status, 200)
                self.assertGreater(length, 20 * MB)
                self.assertLess(self.server.peak_bytes() - before, 2.5 * length + 20 * MB)

    def test_answers_that_nobody_reads(self):
        with Bystander(self.server) as bystander, contextlib.ExitStack() as stack:
            for _ in range(CLIENTS):
                sock = stack.enter_context(connect(self.server))
                sock.sendall(self.large_read)
            until(lambda: metric(self.server, "stator_request_memory_bytes") > 50 * MB, "answers wait to be read")
            before = bystander.answered
            until(lambda: bystander.answered > before + 100 or bystander.failures, "the bystander is answered")
        self.assertEqual(bystander.failures, [])
        self.assertLess(self.server.peak_bytes(), self.limit * 5 // 4)
        until(lambda: metric(self.server, "stator_request_memory_bytes") == 0, "all memory has been given back")

    def test_work_whose_client_has_gone_is_dropped(self):
        before = metric(self.server, "stator_errors_total")
        for _ in range(CLIENTS):
            with connect(self.server) as sock:
                sock.sendall(self.large_read)
        # A read that was carried out is no error; one that was dropped is counted as throttled.
        until(lambda: metric(self.server, "stator_errors_total") > before, "something was dropped")
        until(lambda: metric(self.server, "stator_request_memory_bytes") == 0, "all memory has been given back")


class LeastLimit(unittest.TestCase):
    """The smallest memory_limit holds as well, with items on disk and in memory."""

    limit = 192 * MB

    def test_holds_for_large_bodies_and_answers(self):
        writes = [{"PutRequest": {"Item": {"k": {"S": f"w{n}"}, "v": {"S": "x" * 390_000}}}} for n in range(25)]
        write = request("BatchWriteItem", json.dumps({"RequestItems": {"Things": writes}}).encode().ljust(16 * MB))
        keys = [{"k": {"S": f"large{n}"}} for n in range(25)]
        read = request("BatchGetItem", json.dumps({"RequestItems": {"Things": {"Keys": keys}}}).encode())
        ones = b'{"TableName":"Things","Item":{"k":{"S":"x"},"v":{"L":[' + b",".join([b'{"N":"1"}'] * 1_500_000) + b"]}}}"
        for data in (None, "memory"):
            with self.subTest(data=data), Limited(data, self.limit) as server:
                db = server.connect()
                db.ok("CreateTable", **TABLE)
                for n in range(25):
                    db.ok("PutItem", TableName="Things", Item={"k": {"S": f"large{n}"}, "v": {"S": "\x01" * 380_000}})
                self.assertEqual(at_once(server, [write], 1), [200], "alone, any request that is allowed is carried out")
                for body in (read, request("PutItem", ones), write):
                    at_once(server, [body], 24)
                self.assertTrue(server.alive())
                self.assertLess(server.peak_bytes(), self.limit * 5 // 4)

    def test_is_named_when_a_smaller_one_is_refused(self):
        told = subprocess.run([stator.binary(), "serve", "--memory-limit", "64MB"], capture_output=True, text=True, timeout=20)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("at least 192MB", told.stderr)


class ItemsInMemory(unittest.TestCase):
    def test_stop_at_their_share_and_deletes_go_on(self):
        with Limited("memory", 192 * MB) as server:
            db = server.connect()
            db.ok("CreateTable", **TABLE)
            kept = 0
            with self.assertRaises(dynamo.ApiError) as refused:
                while kept < 1000:
                    db.ok("PutItem", TableName="Things", Item={"k": {"S": str(kept)}, "v": {"S": "x" * 300_000}})
                    kept += 1
            self.assertIn("memory_limit", refused.exception.message)
            self.assertGreater(kept, 50)
            self.assertEqual(server.health(), 503)
            self.assertEqual(db.ok("Scan", TableName="Things", Select="COUNT", Limit=1)["Count"], 1)
            for number in range(20):
                db.ok("DeleteItem", TableName="Things", Key={"k": {"S": str(number)}})
            until(lambda: server.health() == 200, "there is room again, though nobody writes")
            db.ok("PutItem", TableName="Things", Item={"k": {"S": "new"}})
            self.assertLess(server.peak_bytes(), 240 * MB)


class IdleConnections(unittest.TestCase):
    def test_keep_nothing_of_a_large_answer(self):
        with stator.Server("memory") as server, contextlib.ExitStack() as stack:
            db = server.connect()
            db.ok("CreateTable", **TABLE)
            for number in range(40):
                db.ok("PutItem", TableName="Things", Item={"k": {"S": str(number)}, "v": {"S": "x" * 380_000}})
            keys = [{"k": {"S": str(number)}} for number in range(40)]
            large_read = request("BatchGetItem", json.dumps({"RequestItems": {"Things": {"Keys": keys}}}).encode())
            before = server.resident_bytes()
            socks = [stack.enter_context(connect(server)) for _ in range(30)]
            for sock in socks:
                sock.sendall(large_read)
                self.assertGreater(read_answer(sock)[1], 14 * MB)
            # 30 answers of 15 MB were sent.
            until(lambda: server.resident_bytes() < before + 100 * MB, "idle connections have given their memory back")


class Strangers(unittest.TestCase):
    """Once there are access keys, a request is refused by its head."""

    def test_cannot_make_the_server_hold_their_bodies(self):
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([stator.binary(), "key", "add", "--data", folder], capture_output=True, text=True, check=True)
            key, secret = (re.search(rf"{name}=(\S+)", made.stdout)[1] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
            with Limited(folder, 192 * MB) as server, contextlib.ExitStack() as stack:
                # A megabyte is announced and most of it sent; the rest never comes.
                unfinished = request("PutItem", b"", Content_Length=str(MB)) + b" " * 900_000
                for _ in range(100):
                    sock = stack.enter_context(connect(server))
                    with contextlib.suppress(OSError):
                        sock.sendall(unfinished)
                    self.assertEqual(read_answer(sock)[0], 400)
                db = server.connect()
                db.access_key, db.secret_key = key, secret
                db.ok("CreateTable", **TABLE)
                db.ok("PutItem", TableName="Things", Item={"k": {"S": "x"}, "v": {"S": "y" * 300_000}})


class Descriptors(unittest.TestCase):
    def test_connections_leave_the_store_its_own(self):
        few = 1024

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))

        with stator.Server(arguments=["--threads", "16"], preexec=limit) as server, contextlib.ExitStack() as stack:
            db = server.connect()
            db.ok("CreateTable", **TABLE)
            for _ in range(few + 100):
                stack.enter_context(connect(server))
            until(lambda: metric(server, "stator_connections_refused_total", db) > 50, "some were refused")
            # Those that are refused are closed a moment later.
            until(lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < few - 200, "the store has descriptors left")
            for number in range(200):
                db.ok("PutItem", TableName="Things", Item={"k": {"S": str(number)}, "v": {"S": "x" * 1000}})
            self.assertEqual(db.ok("Scan", TableName="Things", Select="COUNT")["Count"], 200)
