"""A Stator under valgrind's callgrind, which counts the instructions of one operation after another.

Used by bench/instructions, bench/profile and tests/instructions.  The same program counts the same on every machine of this kind
of processor: bench/README.md says what is pinned for that.
"""
import collections
import contextlib
import json
import os
import pathlib
import platform
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/tools"))
import server as stator  # noqa: E402
import waiting  # noqa: E402

STORES = ("memory", "disk")
PLAIN, INDEXED = "Plain", "Indexed"
ITEMS, IN_PARTITION, TEXT_BYTES = 2_000, 10, 868
MOST_SECONDS = 60  # for one answer

# valgrind shows programs a processor of its own, with AVX2 where the machine has it.  These choose what every x86-64 has.
PINNED = {
    "SIMDJSON_FORCE_IMPLEMENTATION": "westmere",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-BMI1,-BMI2,-LZCNT,-MOVBE,-ERMS,-FSRM,-RTM,-AVX_Fast_Unaligned_Load"
                      ":glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x800",
    "OPENSSL_ia32cap": "0x0:0x0",
    "MALLOC_CONF": "narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1",  # jemalloc returns no memory by the clock
    "LC_ALL": "C",
    "PATH": "/usr/bin:/bin",
}
# The threads that serve requests and commit, by functions that only they run.  Others work by the clock: so does the main thread,
# which follows the access keys with functions of stator::http.
COUNTED_THREADS = re.compile(r"^c?fn=\(\d+\) stator::(http::Loop::|api::|storage::.*Store::commit\()", re.MULTILINE)


class Data:
    """The items and requests.  Two of them make the same ones, so that programs and runs can be compared."""

    def __init__(self):
        self.random = random.Random(1)
        characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:"
        self.pool = "".join(characters[int(self.random.random() * len(characters))] for _ in range(1 << 16))

    def number(self, below):
        return int(self.random.random() * below)

    def key(self, n):
        return {"PK": {"S": f"CUSTOMER#{n // IN_PARTITION:06}"}, "SK": {"S": f"ORDER#{n % IN_PARTITION:02}"}}

    def item(self, n):
        partitions = ITEMS // IN_PARTITION
        at = self.number(len(self.pool) - TEXT_BYTES)
        return {**self.key(n), "GSI1PK": {"S": f"WAREHOUSE#{n % partitions:06}"},
                "GSI1SK": {"S": f"SHIPPED#{self.number(1_000_000):06}#{n // partitions:02}"}, "n": {"N": "0"}, "total": {"N": "129.95"},
                "paid": {"BOOL": True}, "tags": {"SS": ["express", "gift"]},
                "address": {"M": {"city": {"S": "Utrecht"}, "zip": {"S": "3511AB"}}},
                "lines": {"L": [{"S": "sku-1"}, {"N": "3"}]}, "text": {"S": self.pool[at:at + TEXT_BYTES]}}  # fmt: skip

    def any_item(self):
        return self.item(self.number(ITEMS))

    def any_key(self):
        return self.key(self.number(ITEMS))

    def batch(self, table, numbers):
        return {"RequestItems": {table: [{"PutRequest": {"Item": self.item(n)}} for n in numbers]}}

    # One method for each operation: its request.

    def get(self):
        return "GetItem", {"TableName": PLAIN, "Key": self.any_key()}

    def put(self):
        return "PutItem", {"TableName": PLAIN, "Item": self.any_item()}

    def put_gsi(self):
        return "PutItem", {"TableName": INDEXED, "Item": self.any_item()}

    def update(self):
        return "UpdateItem", {"TableName": PLAIN, "Key": self.any_key(), "UpdateExpression": "SET n = n + :one",
                              "ConditionExpression": "attribute_exists(PK) AND n >= :zero", "ReturnValues": "UPDATED_NEW",
                              "ExpressionAttributeValues": {":one": {"N": "1"}, ":zero": {"N": "0"}}}  # fmt: skip

    def query(self):
        return "Query", {"TableName": PLAIN, "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)",
                         "ExpressionAttributeValues": {":p": self.any_key()["PK"], ":s": {"S": "ORDER#"}}}  # fmt: skip

    def query_gsi(self):
        partition = {"S": f"WAREHOUSE#{self.number(ITEMS // IN_PARTITION):06}"}
        return "Query", {"TableName": INDEXED, "IndexName": "GSI1", "KeyConditionExpression": "GSI1PK = :p",
                         "ExpressionAttributeValues": {":p": partition}}  # fmt: skip

    def batch_write(self):
        first = self.number(ITEMS)
        return "BatchWriteItem", self.batch(PLAIN, [(first + 79 * i) % ITEMS for i in range(25)])

    def transact(self):
        first = self.number(ITEMS // IN_PARTITION) * IN_PARTITION
        exists = {"ConditionExpression": "attribute_exists(PK)"}
        return "TransactWriteItems", {"TransactItems": [
            {"Put": {"TableName": PLAIN, "Item": self.item(first)}},
            {"Put": {"TableName": PLAIN, "Item": self.item(first + 1), **exists}},
            {"Update": {"TableName": PLAIN, "Key": self.key(first + 2), "UpdateExpression": "SET n = n + :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}}}},
            {"ConditionCheck": {"TableName": PLAIN, "Key": self.key(first + 3), **exists}}]}  # fmt: skip

    def scan(self):
        return "Scan", {"TableName": PLAIN}


# Reads come first: after writes a part of the data on disk is in memory, too.
# name: its request, what the answer contains, how many requests come before those that are counted, how many are counted
OPERATIONS = {
    "GetItem": (Data.get, b'"text"', 500, 500),
    "Query of 10": (Data.query, b'"Count":10', 300, 300),
    "Query on a GSI": (Data.query_gsi, b'"Count":10', 300, 300),
    "Scan page": (Data.scan, b'"LastEvaluatedKey"', 3, 10),
    "PutItem": (Data.put, b"{}", 50, 600),
    "PutItem with a GSI": (Data.put_gsi, b"{}", 50, 600),
    "UpdateItem with a condition": (Data.update, b'"Attributes"', 50, 600),
    "BatchWriteItem of 25": (Data.batch_write, b'"UnprocessedItems":{}', 5, 60),
    "TransactWriteItems of 4": (Data.transact, b"{}", 20, 200),
}


class Client:
    """One connection.  A request is one piece, and the next one is sent after the answer, so that the server always reads the same."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), MOST_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, operation, request, expected=b""):
        body = json.dumps(request, separators=(",", ":")).encode()
        head = ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
                f"X-Amz-Target: DynamoDB_20120810.{operation}\r\nAuthorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/"
                f"dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature={'0' * 64}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n")  # fmt: skip
        self.socket.sendall(head.encode() + body)
        answer = self.receive()
        if expected not in answer:
            raise RuntimeError(f"{operation} was answered with {answer[:300]!r}")
        return answer

    def receive(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.more()
        head, body = data.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
        pieces, missing = [body], length - len(body)
        while missing > 0:
            pieces.append(self.more())
            missing -= len(pieces[-1])
        body = b"".join(pieces)
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise RuntimeError(f"the answer is {head.split(bytes(2), 1)[0][:60]!r} {body[:300]!r}")
        return body

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise RuntimeError("the server closed the connection")
        return data


def create_tables(client):
    for table, indexed in ((PLAIN, False), (INDEXED, True)):
        names = ["PK", "SK"] + (["GSI1PK", "GSI1SK"] if indexed else [])
        schema = lambda pk, sk: [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]  # noqa: E731
        request = {"TableName": table, "BillingMode": "PAY_PER_REQUEST", "KeySchema": schema("PK", "SK"),
                   "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names]}  # fmt: skip
        if indexed:
            request["GlobalSecondaryIndexes"] = [{"IndexName": "GSI1", "KeySchema": schema("GSI1PK", "GSI1SK"),
                                                  "Projection": {"ProjectionType": "ALL"}}]  # fmt: skip
        client.send("CreateTable", request)


def load(client):
    data = Data()
    for table in (PLAIN, INDEXED):
        for first in range(25):
            for start in range(first, ITEMS, 25 * 25):
                client.send("BatchWriteItem", data.batch(table, range(start, min(start + 625, ITEMS), 25)))


class Server:
    """Stator with a store of its own.  Under callgrind it counts what measure() is told to count, and nothing else."""

    def __init__(self, program, store, folder):
        self.program, self.store, self.folder = str(program), store, pathlib.Path(folder)
        self.process = self.port = None

    def arguments(self):
        self.port = stator.free_port()
        where = ["--in-memory"] if self.store == "memory" else ["--durability", "sync"]
        return ["serve", "--port", str(self.port), "--threads", "1", "--memory-limit", "1GB", "--data", str(self.folder / "data"), *where]

    def start(self, before=()):
        log = open(self.folder / "log", "ab")
        cpu = max(os.sched_getaffinity(0))  # one, so that the number of cores makes no difference
        self.process = subprocess.Popen(
            ["setarch", "-R", *before, self.program, *self.arguments()], env=PINNED, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))  # fmt: skip
        log.close()
        waiting.until(self.listens, lambda: f"{self.program} listens\n{self.log()}", MOST_SECONDS)

    def listens(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.program} ended with {self.process.returncode} at its start\n{self.log()}")
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-1000:]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(MOST_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def start_loaded(self, before=()):
        """With all items.  On disk they are in data files, as most are in a store that is in use."""
        if self.store == "disk":
            self.start()
            with Client(self.port) as client:
                create_tables(client)
                load(client)
            self.stop()
            self.start()  # moves what is in the log into data files
            self.stop()
        self.start(before)
        if self.store == "memory":
            with Client(self.port) as client:
                create_tables(client)
                load(client)

    def start_counted(self):
        self.start_loaded(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes", "--fair-sched=yes",
                           f"--callgrind-out-file={self.folder / 'counts'}", f"--vgdb-prefix={self.folder / 'vgdb'}"])  # fmt: skip

    def tell(self, *words):
        """Callgrind, not the program: instrumentation on, zero, dump."""
        done = subprocess.run(["vgdb", f"--vgdb-prefix={self.folder / 'vgdb'}", f"--pid={self.process.pid}", *words],
                              capture_output=True, text=True, timeout=MOST_SECONDS, check=False)  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"vgdb {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")

    def is_asleep(self):
        """Whether each thread waits for something: what followed the last answer is done."""
        states = []
        for stat in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                states.append(stat.read_text().rsplit(")", 1)[1].split()[0])
        return "R" not in states and "D" not in states

    def rest(self):
        for _ in range(2):
            waiting.until(self.is_asleep, "the server rests", MOST_SECONDS, 0.002)

    def measure(self, name):
        """Sends an operation; the files, one for each thread, in which callgrind has left what was counted, and the number of requests."""
        request, expected, before, counted = OPERATIONS[name]
        data = Data()
        with Client(self.port) as client:
            for _ in range(before):
                client.send(*request(data), expected)
            requests = [request(data) for _ in range(counted)]
            self.rest()
            self.tell("zero")
            for one in requests:
                client.send(*one, expected)
            self.rest()
            old = set(self.folder.glob("counts*"))
            self.tell("dump", name)
            files = sorted(set(self.folder.glob("counts*")) - old)
        if not files:
            raise RuntimeError(f"callgrind has left no counts of {name}\n{self.log()}")
        return files, counted


def is_counted(file):
    """Whether the file is of a thread that serves requests or commits."""
    return COUNTED_THREADS.search(file.read_text(errors="replace")) is not None


class Counts:
    """The counts of callgrind in one thread: instructions of each function itself."""

    def __init__(self, file):
        self.own = collections.Counter()  # (function, library): instructions
        self.names = {}
        function = library = "?"
        called = False  # the next line has the instructions of a call
        with open(file, errors="replace") as lines:
            for line in lines:
                key, equals, text = line.rstrip("\n").partition("=")
                if equals and key == "fn":
                    function = self.name("fn", text)
                elif equals and key == "cfn":
                    self.name("fn", text)
                elif equals and key == "ob":
                    library = self.name("ob", text)
                elif equals and key == "cob":
                    self.name("ob", text)
                elif equals and key == "calls":
                    called = True
                elif line[:1] in "+-*0123456789" and called:
                    called = False
                elif line[:1] in "+-*0123456789":
                    self.own[function, library] += int(line.split()[1])

    def name(self, kind, text):
        """Callgrind writes a name once, and its number from then on."""
        number, name = re.match(r"\((\d+)\)(?: (.*))?", text).groups()
        if name is not None:
            self.names[kind, number] = name
        return self.names[kind, number]

    def total(self):
        """Instructions."""
        return sum(self.own.values())


@contextlib.contextmanager
def counted_server(program, store):
    with tempfile.TemporaryDirectory(prefix="stator-callgrind-") as folder:
        server = Server(program, store, folder)
        try:
            server.start_counted()
            server.tell("instrumentation", "on")
            yield server
        finally:
            server.stop()


def missing():
    """Why nothing can be counted here, or None."""
    if platform.machine() != "x86_64":
        return f"the counts are of x86-64, and this is {platform.machine()}"
    for command, package in (("valgrind", "valgrind"), ("vgdb", "valgrind"), ("setarch", "util-linux")):
        if not shutil.which(command):
            return f"{command} is missing: apt-get install {package}"
    return None


def count(program, stores=STORES, operations=tuple(OPERATIONS), on_count=lambda store, name, number: None):
    """{store: {operation: instructions for each request}}"""
    counts = {}
    for store in stores:
        counts[store] = {}
        with counted_server(program, store) as server:
            for name in operations:
                files, requests = server.measure(name)
                counted = [file for file in files if is_counted(file)]
                if not counted:
                    raise RuntimeError(f"no thread of {program} runs what COUNTED_THREADS in bench/callgrind.py names")
                counts[store][name] = round(sum(Counts(file).total() for file in counted) / requests)
                on_count(store, name, counts[store][name])
                for file in files:
                    file.unlink()
    return counts
