"""Shared by the benchmarks: tables, load, one case after another, and the cost of a server that starts and does nothing."""
import http.client
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/tools"))
import dynamo  # noqa: E402
import generator  # noqa: E402
import server as stator  # noqa: E402
import waiting  # noqa: E402

PLAIN, INDEXED = "bench_plain", "bench_indexed"
ITEM_BYTES = 1024  # by DynamoDB's count
# what it is called, what the load generator calls it, which table
WORKLOADS = [
    ("PutItem", "put", "put", PLAIN), ("PutItem with GSI", "put-gsi", "put", INDEXED), ("GetItem", "get", "get", PLAIN),
    ("Query 10 items", "query", "query", PLAIN), ("Query GSI", "query-gsi", "query-gsi", INDEXED),
    ("UpdateItem if", "update", "update", PLAIN), ("BatchWriteItem 25", "batch", "batch", PLAIN),
    ("TransactWriteItems 4", "transact", "transact", PLAIN), ("Scan page", "scan", "scan", PLAIN),
]  # fmt: skip
TITLES = {name: title for title, name, _, _ in WORKLOADS}


def say(text=""):
    print(text, flush=True)


def wait_for_answer(port, deadline):
    """Until ListTables is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.ListTables", "X-Amz-Date": "20260101T000000Z",
               "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"}
    while True:
        try:
            connection.request("POST", "/", b"{}", headers)
            if connection.getresponse().status == 200:
                connection.close()
                return
        except (OSError, http.client.HTTPException):
            pass
        connection.close()
        if time.monotonic() > deadline:
            sys.exit("the server does not answer")
        time.sleep(0.0005)


def start_ms(server, most_seconds=30):
    """Starts a stator.Server that is not running: the time from the start of the process to its first answer."""
    command, began = server.command(), time.monotonic()
    server.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    wait_for_answer(server.port, began + most_seconds)
    return (time.monotonic() - began) * 1000


def cold_start_ms(rounds, data=None):
    """From the start of the process on an empty folder to its first answer: the median of some, and the fastest."""
    times = []
    for _ in range(rounds):
        server = stator.Server(data)
        times.append(start_ms(server))
        server.__exit__(None)
    return statistics.median(times), min(times)


def idle_mb(data=None):
    with stator.Server(data) as server:
        server.connect().ok("ListTables")
        time.sleep(1)
        return server.resident_bytes() / 1e6


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds(pids=()):
    """Processor time that the machine has spent on anything but the servers `pids` and this program's children."""
    fields = [int(n) for n in open("/proc/stat").readline().split()[1:]]
    ticks = fields[0] + fields[1] + fields[2] + sum(fields[5:8])  # user, nice, system, interrupts, stolen
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ticks / os.sysconf("SC_CLK_TCK") - sum(map(processor_seconds, pids)) - children.ru_utime - children.ru_stime


def wait_for_quiet(most_seconds=10, most_cores=0.15):
    """Until the machine does next to nothing, so that what one case leaves behind does not disturb the next.  Whether it came so far."""
    deadline = time.monotonic() + most_seconds
    while time.monotonic() < deadline:
        before, began = busy_seconds(), time.monotonic()
        time.sleep(0.2)
        if (busy_seconds() - before) / (time.monotonic() - began) <= most_cores:
            return True
    return False


class Failed(Exception):
    """A case that cannot be measured: wrong answers, or none."""


class Unsupported(Failed):
    """The server does not have the operation."""


def generate(program, endpoint, pids, workload, table, connections, items, seconds=0.0, warmup=0.0, first=0, credentials=None, rate=0):
    """One run of the load generator.  `others` in its result: cores that other programs used meanwhile."""
    command = generator.command(program, endpoint, workload, table, connections, items, seconds, warmup, pids, first,
                                bool(credentials), rate)  # fmt: skip
    keys = dict(zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), credentials or ()))
    others, began = busy_seconds(pids), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **keys})
    others = (busy_seconds(pids) - others) / (time.monotonic() - began)
    if done.returncode:
        raise Failed(f"{workload} on {endpoint}: {done.stderr.strip()}")
    result = {**json.loads(done.stdout), "others": others}
    if result["errors"]:
        kind = Unsupported if "UnknownOperation" in result["first_error"] else Failed
        raise kind(f"{workload} on {endpoint}: {result['errors']} wrong answers, the first to {result['first_error']}")
    return result


def remarks(result):
    """The end of a line about a result."""
    text = f"{result['items_s']:.0f}" if result["items"] != result["operations"] else ""
    if result["others"] > 0.3:
        text += f"  (disturbed: others used {result['others']:.1f} cores)"
    if result["reconnects"]:
        text += f"  ({result['reconnects']} connections closed by the server)"
    return text


def schema(pk, sk):
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]


def strings(*names):
    return [{"AttributeName": n, "AttributeType": "S"} for n in names]


INDEX = {"IndexName": "GSI1", "KeySchema": schema("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}


class Bench:
    """One DynamoDB endpoint with the tables of the workloads."""

    def __init__(self, options, endpoint, pids=(), ours=False, credentials=None):
        """options: generator, items.  pids: the server's processes, as far as they are known.  credentials: for a server that checks
        signatures."""
        self.options, self.endpoint, self.pids, self.ours, self.credentials = options, endpoint, list(pids), ours, credentials
        self.connection = dynamo.Connection(endpoint, 300)
        if credentials:
            self.connection.access_key, self.connection.secret_key = credentials

    def generate(self, workload, table, connections, seconds=0.0, warmup=0.0, first=0, items=None, rate=0):
        result = generate(self.options.generator, self.endpoint, self.pids, workload, table, connections, items or self.options.items,
                          seconds, warmup, first, self.credentials, rate)  # fmt: skip
        if result["reconnects"] and self.ours:
            raise Failed(f"{workload} on {self.endpoint}: the server closed {result['reconnects']} connections instead of answering")
        return result

    def create(self, name, indexed):
        status, _ = self.connection.call("DeleteTable", {"TableName": name})
        gone = lambda: self.connection.call("DescribeTable", {"TableName": name})[0] != 200  # noqa: E731
        if status == 200:
            waiting.until(gone, f"{name} is deleted", 60, 0.05)
        names = ["PK", "SK"] + (["GSI1PK", "GSI1SK"] if indexed else [])
        request = dict(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=schema("PK", "SK"), AttributeDefinitions=strings(*names))
        if indexed:
            request["GlobalSecondaryIndexes"] = [INDEX]
        self.connection.ok("CreateTable", **request)
        active = lambda: self.connection.ok("DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE"  # noqa: E731
        waiting.until(active, f"{name} is active", 60)

    def load(self, tables=(PLAIN, INDEXED)):
        for table in tables:
            self.create(table, table == INDEXED)
            loaded = self.generate("load", table, 8)
            say(f"# loaded {loaded['items']} items into {table}: {loaded['items_s']:.0f} items/s")
        self.check_counts("after loading", tables)

    def count(self, **request):
        return sum(page["Count"] for page in self.connection.pages("Scan", Select="COUNT", **request))

    def check_counts(self, when, tables=(PLAIN, INDEXED)):
        for request in [dict(TableName=PLAIN), dict(TableName=INDEXED), dict(TableName=INDEXED, IndexName="GSI1")]:
            if request["TableName"] in tables and (n := self.count(**request)) != self.options.items:
                raise Failed(f"{when}, {request} holds {n} items instead of {self.options.items}")

    def drop(self, tables=(PLAIN, INDEXED)):
        for table in tables:
            self.connection.call("DeleteTable", {"TableName": table})
