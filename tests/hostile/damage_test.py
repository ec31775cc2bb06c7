"""Damaged files in a data folder: nothing that was acknowledged is lost without a word, and no evidence is destroyed.

Every file of a folder is damaged in every way, each after a kill and after a clean stop.  Then the server either serves every
acknowledged item, or refuses to start, names the file and the way out, and leaves the folder as it was.  A block of a table file
may also be found damaged by the first request that reads it: that request fails, and the database is read-only from then on.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import dynamo
import server as stator
import waiting

TABLE = "Things"
ITEMS = 1500
DAMAGES = ["flipped at 10 %", "flipped at 50 %", "flipped at 99 %", "cut", "short by 20", "zeros", "ones", "emptied", "missing"]
# Of files that consist of records: the end of a log may have these bytes, too.
RECORD_DAMAGES = ["ones from record -1", "ones from record -2", "ones from record -3"]
STOPS = ["kill", "stop"]
WAY_OUT = "stator repair --accept-loss"


def item(i):
    return {"pk": {"S": f"p{i % 7}"}, "sk": {"N": str(i)}, "body": {"S": f"{i:05}-" * 20}}


def write_items(connection, begin, end):
    for first in range(begin, end, 25):
        requests = [{"PutRequest": {"Item": item(i)}} for i in range(first, min(first + 25, end))]
        answer = connection.ok("BatchWriteItem", RequestItems={TABLE: requests})
        assert not answer.get("UnprocessedItems")


class Folder:
    """A data folder with a history: two starts' worth of table files, and a log with the last third of the items."""

    def __init__(self, stop):
        self.path = tempfile.mkdtemp(prefix=f"stator-damage-{stop}-")
        out = subprocess.run([stator.binary(), "key", "add", "--data", self.path], capture_output=True, text=True, check=True)
        self.key = dict(line.split("=", 1) for line in out.stdout.split())
        for round_ in range(3):
            with stator.Server(self.path) as server:
                connection = self.sign(server.connect())
                if round_ == 0:
                    connection.ok("CreateTable", TableName=TABLE, BillingMode="PAY_PER_REQUEST",
                                  AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                                                        {"AttributeName": "sk", "AttributeType": "N"}],
                                  KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"},
                                             {"AttributeName": "sk", "KeyType": "RANGE"}])
                write_items(connection, round_ * ITEMS // 3, (round_ + 1) * ITEMS // 3)
                connection.close()
                if round_ == 2 and stop == "kill":
                    server.kill()

    def sign(self, connection):
        connection.access_key, connection.secret_key = self.key["AWS_ACCESS_KEY_ID"], self.key["AWS_SECRET_ACCESS_KEY"]
        return connection

    def copy(self):
        target = tempfile.mkdtemp(prefix="stator-damaged-")
        shutil.copytree(self.path, target, dirs_exist_ok=True, ignore=lambda *_: ["RESERVE", "LOCK"])
        return target


folders = {}


def setUpModule():
    if stator.in_memory_only():
        raise unittest.SkipTest("there are no files to damage")
    for stop in STOPS:
        folders[stop] = Folder(stop)


def tearDownModule():
    for folder in folders.values():
        shutil.rmtree(folder.path, ignore_errors=True)


def find(folder, kind):
    """The file of that kind; the newest with something in it, where there are several."""
    patterns = {"WAL": "*.log", "MANIFEST": "MANIFEST-*", "SST": "*.sst", "first SST": "*.sst", "OPTIONS": "OPTIONS-*",
                "keys": "keys.yaml"}
    files = sorted(file for file in pathlib.Path(folder).glob(patterns.get(kind, kind)) if file.stat().st_size > 0)
    assert files, f"there is no {kind} in {sorted(os.listdir(folder))}"
    return files[0 if kind.startswith("first") else -1]


def size_of(file):
    """Of a log, without its filling."""
    return len(file.read_bytes().rstrip(b"\xff")) if file.suffix == ".log" else file.stat().st_size


def records_of(file):
    """Where the records of a log or a manifest begin; docs/internals/damage.md names the code that draws the format."""
    data, at, begins = file.read_bytes(), 0, []
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        length, kind = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
        if kind not in (1, 2, 3, 4):
            break
        if kind in (1, 2):
            begins.append(at)
        at += 7 + length
    return begins


def damage(file, how):
    size = size_of(file)
    if how == "missing":
        return file.unlink()
    if how == "emptied":
        return os.truncate(file, 0)
    if how == "cut":
        return os.truncate(file, size // 2)
    if how == "short by 20":
        return os.truncate(file, max(size - 20, 0))
    with open(file, "r+b") as opened:
        if how in ("zeros", "ones"):
            begin = size // 4
            opened.seek(begin)
            return opened.write((b"\0" if how == "zeros" else b"\xff") * min(4096, size - begin))
        if how in RECORD_DAMAGES:
            begin = records_of(file)[int(how.split()[3])]
            opened.seek(begin)
            return opened.write(b"\xff" * (size - begin))
        at = min(size - 1, size * int(how.split()[2]) // 100)
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ 0xFF]))


def contents(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in pathlib.Path(folder).iterdir()
            if file.is_file() and file.name != "LOCK"}


class Start(stator.Server):
    """A server that may refuse to start: `refusal` is what it said, or None."""

    def __init__(self, data):
        super().__init__(data)
        self.refusal = None

    def __enter__(self):
        try:
            self.start(timeout=20)
        except RuntimeError:
            self.refusal = self.log()
        return self

    def health_body(self):
        try:
            with urllib.request.urlopen(f"{self.endpoint}/health", timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


def read_all(connection):
    """The items by number, or the error that reading them ended with."""
    try:
        return {int(found["sk"]["N"]): found for found in connection.items("Scan", TableName=TABLE)}, None
    except dynamo.ApiError as error:
        return None, error


def repair(folder, *flags):
    return subprocess.run([stator.binary(), "repair", "--data", folder, *flags], capture_output=True, text=True)


class Case:
    """One damaged copy of a folder; `problems` is what was wrong with how the server took it."""

    def __init__(self, stop, kind, how):
        self.name, self.kind, self.how = f"{kind} {how} after a {stop}", kind, how
        self.source = folders[stop]
        self.outcome, self.problems = "", []
        self.folder = self.source.copy()
        try:
            self.run()
        except Exception as error:  # a case tells its name, and the others go on
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def expect(self, condition, what):
        if not condition:
            self.problems.append(what)

    def run(self):
        file = find(self.folder, self.kind)
        damage(file, self.how)
        before = contents(self.folder)
        with Start(self.folder) as server:
            if server.refusal is None:
                return self.serves(server)
        self.outcome = "refused"
        self.expect(file.name in server.refusal, f"the refusal does not name {file.name}: {server.refusal}")
        if self.kind == "keys":
            return self.keys_restored()
        self.expect(contents(self.folder) == before, "a refused start changed the folder")
        self.expect(WAY_OUT in server.refusal, f"the refusal offers no way out: {server.refusal}")
        self.repaired(file)

    def keys_restored(self):
        shutil.copy(f"{self.source.path}/keys.yaml", self.folder)
        with Start(self.folder) as server:
            self.expect(server.refusal is None, f"the server does not start with its keys again: {server.refusal}")
            items, error = read_all(self.source.sign(server.connect()))
            self.expect(error is None and len(items) == ITEMS, f"items are gone after the keys came back: {error}")

    def serves(self, server):
        connection = self.source.sign(server.connect())
        items, error = read_all(connection)
        if error is None:
            self.outcome = "complete"
            missing = [i for i in range(ITEMS) if items.get(i) != item(i)]
            self.expect(not missing, f"{len(missing)} acknowledged items are gone without a word")
            return
        if self.kind == "keys":
            # The database remembers that there were keys, and lets nobody in until there is one again.
            self.outcome = "shut"
            self.expect(error.type == "UnrecognizedClientException" and "stator key add" in error.message,
                        f"the refusal offers no way out: {error}")
            self.expect("keys.yaml" in server.log(), f"the log does not name the file: {server.log()}")
            connection.close()
            server.stop()
            return self.keys_restored()
        self.outcome = "found when read"
        self.expect(self.kind.endswith("SST"), f"a read fails: {error}")
        status, health = server.health_body()
        self.expect(status == 503 and health.get("reason") == "damaged", f"/health says {status} {health}")
        self.expect(str(health.get("file", "")).endswith(".sst"), f"/health names no file: {health}")
        connection.close()
        server.stop()
        self.repaired(find(self.folder, self.kind))

    def repaired(self, file):
        """Nothing changes without a yes; with it, the server starts with what was saved, and all of it is true."""
        before = contents(self.folder)
        told = repair(self.folder)
        self.expect(told.returncode == 3, f"stator repair ends with {told.returncode}: {told.stdout}{told.stderr}")
        self.expect(contents(self.folder) == before, "stator repair changed the folder without --accept-loss")
        mended = repair(self.folder, "--accept-loss")
        self.expect(mended.returncode == 0, f"stator repair --accept-loss ends with {mended.returncode}: {mended.stderr}")
        if mended.returncode != 0:
            return
        aside = list(pathlib.Path(self.folder).glob("damaged-*"))
        self.expect(len(aside) == 1, f"the damaged files are in {aside}")
        with Start(self.folder) as server:
            if server.refusal is not None:
                return self.expect(False, f"the server does not start after the repair: {server.refusal}")
            connection = self.source.sign(server.connect())
            items, error = read_all(connection)
            if error is not None and self.kind.endswith("SST"):
                # Of a table whose own record was in a lost block, nothing is known any more.
                return self.expect(error.type == "ResourceNotFoundException", f"a read fails after the repair: {error}")
            self.expect(error is None, f"a read fails after the repair: {error}")
            if error is None:
                wrong = [i for i in items if items[i] != item(i)]
                self.expect(not wrong, f"{len(wrong)} items are not what was written")
                least = {"SST": 1, "first SST": 1, "MANIFEST": ITEMS, "CURRENT": ITEMS, "FORMAT": ITEMS, "WAL": ITEMS * 2 // 3}[self.kind]
                self.expect(len(items) >= least, f"only {len(items)} items were saved: {mended.stdout}")
                self.outcome += f", {len(items)} saved"
            connection.ok("CreateTable", TableName="After", BillingMode="PAY_PER_REQUEST",
                          AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                          KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}])
            connection.close()


class Damage(unittest.TestCase):
    def check(self, kind):
        hows = DAMAGES + (RECORD_DAMAGES if kind in ("WAL", "MANIFEST") else [])
        cases = [(stop, kind, how) for stop in STOPS for how in hows]
        with ThreadPoolExecutor(4) as pool:
            for case in pool.map(lambda case: Case(*case), cases):
                print(f"  {case.name}: {case.outcome}", flush=True)
                with self.subTest(case.name):
                    self.assertEqual(case.problems, [])

    def test_of_the_log(self):
        self.check("WAL")

    def test_of_the_manifest(self):
        self.check("MANIFEST")

    def test_of_a_table_file(self):
        self.check("SST")

    def test_of_another_table_file(self):
        self.check("first SST")

    def test_of_current(self):
        self.check("CURRENT")

    def test_of_options(self):
        self.check("OPTIONS")

    def test_of_format(self):
        self.check("FORMAT")

    def test_of_a_block_that_the_start_reads(self):
        folder = tempfile.mkdtemp(prefix="stator-damaged-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        for round_ in range(3):  # each start makes a table file of the log
            with stator.Server(folder) as server:
                connection = server.connect()
                if round_ == 0:
                    connection.ok("CreateTable", TableName=TABLE, BillingMode="PAY_PER_REQUEST",
                                  AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                                  KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}])
                connection.ok("PutItem", TableName=TABLE, Item=item(round_))
                connection.close()
                server.kill()
        file = find(folder, "first SST")
        damage(file, "flipped at 10 %")
        with Start(folder) as server:
            self.assertIsNotNone(server.refusal)
            self.assertIn(file.name, server.refusal)
            self.assertIn(WAY_OUT, server.refusal)
        self.assertEqual(repair(folder, "--accept-loss").returncode, 0)
        with Start(folder) as server:
            self.assertIsNone(server.refusal)

    def test_of_the_mark(self):
        self.check("MARK")

    def test_of_the_access_keys(self):
        self.check("keys")


def fill(folder):
    """Takes all the room that the file system has left; the file that does."""
    filler = pathlib.Path(folder, "filler")
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass
    return filler


class ReadOnlyStart(Start):
    """Is started when it answers at all."""

    def healthy(self):
        return self.health() in (200, 503)


@unittest.skipUnless(os.geteuid() == 0, "only root can make a small file system")
class FullDisk(unittest.TestCase):
    SIZE = "64m"

    def setUp(self):
        self.disk = tempfile.mkdtemp(prefix="stator-full-")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE}", "stator-full", self.disk], capture_output=True)
        if mounted.returncode != 0:
            os.rmdir(self.disk)
            self.skipTest("no file system can be mounted here")
        self.addCleanup(os.rmdir, self.disk)
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)
        self.data = self.disk + "/data"

    def create(self, connection, table):
        connection.ok("CreateTable", TableName=table, BillingMode="PAY_PER_REQUEST",
                      AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                                            {"AttributeName": "sk", "AttributeType": "N"}],
                      KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}])

    def key(self, i):
        return {name: value for name, value in item(i).items() if name != "body"}

    def until(self, condition, what):
        waiting.until(condition, what, 30 * stator.slowness(), 0.05)

    def delete(self, connection, numbers):
        for i in numbers:
            status, answer = connection.call("DeleteItem", {"TableName": TABLE, "Key": self.key(i)})
            self.assertEqual(status, 200, f"delete {i} of {numbers}: {answer}")

    def check_while_full(self, server, connection, first):
        """Reads and deletes go on, other writes are refused with the reason."""
        status, health = server.health_body()
        self.assertEqual((status, health["status"], health["reason"]), (503, "read-only", "disk-full"))
        items, error = read_all(connection)
        self.assertIsNone(error)
        self.assertEqual(items[first], item(first))
        status, answer = connection.call("PutItem", {"TableName": TABLE, "Item": item(100_000)})
        self.assertEqual(status, 500)
        self.assertIn("disk is full", answer["message"])
        self.until(lambda: connection.call("DeleteItem", {"TableName": TABLE, "Key": self.key(first)})[0] == 200,
                   "a delete is still refused")
        deletes = [{"DeleteRequest": {"Key": self.key(first + 1)}}, {"DeleteRequest": {"Key": self.key(first + 2)}}]
        connection.ok("BatchWriteItem", RequestItems={TABLE: deletes})
        items, _ = read_all(connection)
        self.assertEqual([i for i in (first, first + 1, first + 2) if i in items], [])

    def test_starts_read_only_and_deletes_from_the_reserve(self):
        with Start(self.data) as server:
            connection = server.connect()
            self.create(connection, TABLE)
            self.create(connection, "Other")
            write_items(connection, 0, 500)
            connection.close()
        filler = fill(self.disk)
        with ReadOnlyStart(self.data) as server:
            self.assertIsNone(server.refusal)
            connection = server.connect()
            self.check_while_full(server, connection, 0)
            connection.ok("DeleteTable", TableName="Other")
            connection.close()
            server.kill()
            filler.unlink()
            server.start()
            connection = server.connect()
            items, _ = read_all(connection)
            self.assertEqual(sorted(items), list(range(3, 500)), "deletes on the reserve are as durable as others")
            self.assertEqual(connection.ok("ListTables")["TableNames"], [TABLE])
            self.until(lambda: connection.call("PutItem", {"TableName": TABLE, "Item": item(0)})[0] == 200, "still read-only")
            self.assertEqual(server.health(), 200)
            connection.close()

    def test_deletes_go_through_when_the_disk_fills_up(self):
        with Start(self.data) as server:
            connection = server.connect()
            self.create(connection, TABLE)
            write_items(connection, 0, 500)
            filler = fill(self.disk)
            large = dict(item(200_000), body={"S": "x" * 300_000})
            self.until(lambda: connection.call("PutItem", {"TableName": TABLE, "Item": large})[0] != 200, "nothing is full")
            self.check_while_full(server, connection, 10)
            filler.unlink()
            self.until(lambda: connection.call("PutItem", {"TableName": TABLE, "Item": item(10)})[0] == 200, "still read-only")
            self.until(lambda: server.health() == 200, "not healthy again")
            connection.close()

    def test_large_items_fill_it_and_deletes_make_room(self):
        with Start(self.data) as server:
            connection = server.connect()
            self.create(connection, TABLE)
            body = {"S": os.urandom(100_000).hex()}
            written = 0
            while connection.call("PutItem", {"TableName": TABLE, "Item": dict(item(written), body=body)})[0] == 200:
                written += 1
                self.assertLess(written, 1000, "nothing is full")
            self.delete(connection, range(written))
            self.assertLessEqual(server.log().count("store_failed"), 2, "it fails and recovers in turns")
            connection.close()

    def test_is_told_by_the_health_of_an_app(self):
        class App(ReadOnlyStart):
            def command(self):
                return [stator.binary(), "app", "book-tracker", "--data", self.data, "--app-port", str(self.port)]

        with App(self.data) as server:
            self.assertIsNone(server.refusal)
            self.assertEqual(server.health_body(), (200, {"status": "ok"}))
        fill(self.disk)
        with App(self.data) as server:
            self.assertIsNone(server.refusal)
            status, health = server.health_body()
            self.assertEqual((status, health["reason"]), (503, "disk-full"))


class TinyDisk(FullDisk):
    """The promises for a full disk hold on a small one, where the reserve is small, too."""

    SIZE = "12m"
    test_large_items_fill_it_and_deletes_make_room = None  # the test below asks for more

    def test_deletes_go_on_after_a_restart_and_make_room(self):
        with Start(self.data) as server:
            connection = server.connect()
            self.create(connection, TABLE)
            body = {"S": os.urandom(50_000).hex()}
            written = 0
            while connection.call("PutItem", {"TableName": TABLE, "Item": dict(item(written), body=body)})[0] == 200:
                written += 1
            self.delete(connection, range(written // 2))
            connection.close()
            server.kill()
        with ReadOnlyStart(self.data) as server:
            self.assertIsNone(server.refusal)
            connection = server.connect()
            self.delete(connection, range(written // 2, written))
            self.until(lambda: connection.call("PutItem", {"TableName": TABLE, "Item": item(0)})[0] == 200, "still read-only")
            connection.close()

    def test_deletes_from_before_it_was_full_make_room(self):
        with Start(self.data) as server:
            connection = server.connect()
            self.create(connection, TABLE)
            body = {"S": os.urandom(50_000).hex()}
            for i in range(50):
                connection.ok("PutItem", TableName=TABLE, Item=dict(item(i), body=body))
            self.delete(connection, range(50))
            fill(self.disk)
            large = dict(item(0), body={"S": "x" * 300_000})
            self.until(lambda: connection.call("PutItem", {"TableName": TABLE, "Item": large})[0] != 200, "nothing is full")
            self.until(lambda: connection.call("PutItem", {"TableName": TABLE, "Item": item(0)})[0] == 200, "still read-only")
            connection.close()


@unittest.skipUnless(os.geteuid() == 0, "only root can make a small file system")
class TooSmallDisk(FullDisk):
    SIZE = "6m"

    def test_says_at_the_start_that_the_disk_is_too_small(self):
        with Start(self.data) as server:
            self.assertIn("with less than 8 MB deletes may be refused", server.log())


# Of the smallest, one thing is asked.
for name in [name for name in dir(FullDisk) if name.startswith("test_")]:
    setattr(TooSmallDisk, name, None)


class Flapping(unittest.TestCase):
    def test_a_damaged_block_is_not_taken_for_a_full_disk(self):
        folder = folders["stop"].copy()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        table = find(folder, "SST")
        damage(table, "flipped at 50 %")
        with Start(folder) as server:
            self.assertIsNone(server.refusal)
            connection = folders["stop"].sign(server.connect())
            _, error = read_all(connection)
            self.assertEqual(error.status, 500)
            for i in range(20):
                status, answer = connection.call("PutItem", {"TableName": TABLE, "Item": item(100_000 + i)})
                self.assertEqual((status, answer["message"]),
                                 (500, "The database is read-only: a data file is damaged. Reads of other data go on; "
                                       "GET /health and the server's log name the file."))
            status, health = server.health_body()
            self.assertEqual((status, health), (503, {"status": "read-only", "reason": "damaged", "file": table.name}),
                             "where requests are signed, it names no table")
            self.assertIn(TABLE, [line for line in server.log(200).splitlines() if "data_file_damaged" in line][0])
            connection.close()


if __name__ == "__main__":
    unittest.main()
