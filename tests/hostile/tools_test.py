"""stator check, stator backup and stator restore: of running and stopped servers, of damaged files, interrupted and under load."""

import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

import server
import waiting
from dynamo import ApiError

TABLE = {
    "TableName": "Music",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in
                             (("artist", "S"), ("song", "S"), ("year", "N"), ("length", "N"))],
    "KeySchema": [{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "song", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "ByYear", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                "KeySchema": [{"AttributeName": "year", "KeyType": "HASH"}]}],
    "LocalSecondaryIndexes": [{"IndexName": "ByLength", "Projection": {"ProjectionType": "ALL"},
                               "KeySchema": [{"AttributeName": "artist", "KeyType": "HASH"},
                                             {"AttributeName": "length", "KeyType": "RANGE"}]}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


def stator(*arguments, env=None, check=None):
    """The exit status and everything that was printed."""
    done = subprocess.run([server.binary(), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, **(env or {})}, timeout=120 * server.slowness())
    if check is not None and done.returncode != check:
        raise AssertionError(f"stator {arguments} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.returncode, done.stdout + done.stderr


def item(number, text="x"):
    return {"artist": {"S": f"a{number % 7}"}, "song": {"S": f"s{number:06}"}, "year": {"N": str(1960 + number % 60)},
            "length": {"N": str(number)}, "text": {"S": text * 100}, "expires": {"N": str(4_000_000_000 + number)}}


def write(connection, numbers, text="x"):
    numbers = list(numbers)
    for at in range(0, len(numbers), 25):
        connection.ok("BatchWriteItem", RequestItems={"Music": [{"PutRequest": {"Item": item(n, text)}}
                                                                for n in numbers[at:at + 25]]})


def delete(connection, number):
    connection.ok("DeleteItem", TableName="Music", Key={k: item(number)[k] for k in ("artist", "song")})


def scan(connection, **more):
    return sorted(connection.items("Scan", TableName="Music", **more), key=lambda i: i["song"]["S"])


def fill(connection, count=2000):
    connection.ok("CreateTable", **TABLE)
    connection.ok("UpdateTimeToLive", TableName="Music",
                  TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True})
    write(connection, range(count))
    for number in range(0, count, 10):
        delete(connection, number)


def flip(path, at=0.5):
    """Changes one byte of a file."""
    with open(path, "r+b") as file:
        place = int(os.path.getsize(path) * at)
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ 0x10]))


def newest(folder, pattern):
    return max(pathlib.Path(folder).glob(pattern), key=lambda path: path.stat().st_size)


@unittest.skipIf(server.in_memory_only(), "there are no files to look at")
class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """One database that most tests copy, and a server on it."""
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="stator-tools-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.server = server.Server(str(cls.folder / "data"))
        cls.addClassCleanup(cls.server.__exit__, None)
        cls.server.start()
        fill(cls.server.connect())
        cls.expected = scan(cls.server.connect())
        stator("backup", cls.folder / "backups", "--endpoint", cls.server.endpoint, check=0)

    def setUp(self):
        self.own = pathlib.Path(tempfile.mkdtemp(prefix="stator-tools-", dir=self.folder))

    def restored(self):
        """The shared backup as a data folder of this test's own."""
        target = self.own / "data"
        stator("restore", self.folder / "backups", "--data", target, check=0)
        return target

    # -- check

    def test_a_running_server_is_checked_and_nothing_is_wrong(self):
        status, text = stator("check", "--endpoint", self.server.endpoint)
        self.assertEqual(status, 0, text)
        self.assertIn("1 tables, 1800 items, 3600 index entries", text)
        self.assertIn("nothing is wrong", text)

    def test_a_check_while_others_write_finds_nothing(self):
        stop = threading.Event()

        def writer(seed):
            connection, dice = self.server.connect(), random.Random(seed)
            while not stop.is_set():
                write(connection, [10_000 + dice.randrange(300) for _ in range(1)], dice.choice("xyz"))
                delete(connection, 10_000 + dice.randrange(300))

        threads = [threading.Thread(target=writer, args=(seed,)) for seed in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3):
                status, text = stator("check", "--endpoint", self.server.endpoint)
                self.assertEqual(status, 0, text)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            connection = self.server.connect()
            for number in range(10_000, 10_300):
                delete(connection, number)

    def test_a_folder_in_use_says_so_and_names_the_way_out(self):
        for command in (["check", "--data", self.server.data], ["backup", self.own / "b", "--data", self.server.data]):
            status, text = stator(*command)
            self.assertIn(status, (1, 2), text)
            self.assertIn("in use", text)
            self.assertIn("--endpoint", text)

    def test_a_stopped_database_is_checked_and_not_changed(self):
        data = self.restored()
        before = {path.name: path.read_bytes() for path in data.iterdir()}
        status, text = stator("check", "--data", data)
        self.assertEqual(status, 0, text)
        self.assertIn("1 tables, 1800 items, 3600 index entries", text)
        self.assertEqual({path.name: path.read_bytes() for path in data.iterdir() if path.name != "LOCK"},
                         {name: bytes_ for name, bytes_ in before.items() if name != "LOCK"})

    def test_a_flipped_byte_is_found_with_file_and_way_out(self):
        data = self.restored()
        table = newest(data, "*.sst")
        flip(table)
        status, text = stator("check", "--data", data)
        self.assertEqual(status, 1, text)
        self.assertIn(f"damaged file in Music {table.name}", text)
        self.assertIn(f"stator repair --data {data}.", text)
        self.assertIn("stator restore BACKUPS --data NEW_FOLDER", text)
        # How many there are is not known, so no count is called wrong, and nothing is repaired by it.
        self.assertNotIn("are noted", text)
        status, text = stator("check", "--data", data, "--repair")
        self.assertEqual(status, 1, text)
        self.assertIn(f"damaged file in Music {table.name}", text)
        self.assertNotIn("cannot commit", text)
        self.assertIn("nothing was repaired", text)
        # And a server that is running on it says the same.
        with server.Server(str(data)) as running:
            status, text = stator("check", "--endpoint", running.endpoint)
            self.assertEqual(status, 1, text)
            self.assertIn(f"damaged file in Music {table.name}", text)

    def test_nothing_to_check_is_told_apart_from_nothing_wrong(self):
        for command in (["check", "--data", self.own / "none"], ["check", "--data", self.own],
                        ["check", "--endpoint", f"http://127.0.0.1:{server.free_port()}"]):
            status, text = stator(*command)
            self.assertEqual(status, 2, text)
        self.assertEqual(list(self.own.iterdir()), [])

    # -- who may ask

    def test_tools_need_a_signature_once_there_are_keys(self):
        data = self.restored()
        _, text = stator("key", "add", "--data", data, check=0)
        key = dict(line.split("=", 1) for line in text.splitlines() if line.startswith("AWS_"))
        with server.Server(str(data)) as running:
            for path, method in (("check", "POST"), ("check", "GET"), ("backups", "POST"), ("backups/1/0/0/10", "GET"),
                                 ("backups/1", "DELETE")):
                connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
                connection.request(method, "/stator/" + path, headers={"X-Stator-Tool": "1"})
                answer = connection.getresponse()
                self.assertIn(answer.status, (400, 403), path)
                self.assertIn(b"MissingAuthenticationToken", answer.read())
                connection.close()
            wrong = {"AWS_ACCESS_KEY_ID": key["AWS_ACCESS_KEY_ID"], "AWS_SECRET_ACCESS_KEY": "wrong"}
            self.assertEqual(stator("check", "--endpoint", running.endpoint, env=wrong)[0], 2)
            none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
                    "AWS_CONFIG_FILE": "/dev/null"}
            for command in (["check"], ["backup", self.own / "b"]):
                status, text = stator(*command, "--endpoint", running.endpoint, env=none)
                self.assertIn("asks for an access key: set AWS_ACCESS_KEY_ID", text)
            self.assertEqual(stator("backup", self.own / "b", "--endpoint", running.endpoint, env=wrong)[0], 1)
            stator("check", "--endpoint", running.endpoint, env=key, check=0)
            stator("backup", self.own / "b", "--endpoint", running.endpoint, env=key, check=0)
        for path in (self.own / "b").rglob("*"):
            self.assertNotIn(key["AWS_SECRET_ACCESS_KEY"].encode(), path.read_bytes() if path.is_file() else b"")

    def test_a_web_page_cannot_ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request("POST", "/stator/check", headers={"Content-Type": "text/plain"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 403, answer.read())

    def test_parts_of_files_that_do_not_exist_are_refused(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)

        def ask(method, path):
            connection.request(method, "/stator/" + path, headers={"X-Stator-Tool": "1"})
            answer = connection.getresponse()
            return answer.status, answer.read()

        frozen = pathlib.Path(self.server.data) / "FROZEN"
        before = set(frozen.iterdir()) if frozen.exists() else set()  # of tools that were killed
        status, body = ask("POST", "backups")
        self.assertEqual(status, 200)
        self.assertEqual(len(set(frozen.iterdir()) - before), 1)
        made = json.loads(body)
        base = f"backups/{made['id']}"
        for path in (f"{base}/999/0/10", f"{base}/0/99999999999/10", f"{base}/0/0/99999999", f"{base}/0/-1/10", f"{base}/0/0",
                     f"{base}/0/0/10/x", f"{base}/../0/10", base, f"{base}/x/0/10", "backups/unknown/0/0/10", "backups/"):
            self.assertIn(ask("GET", path)[0], (400, 404), path)
        self.assertEqual(ask("GET", f"{base}/0/0/10")[0], 200)
        self.assertEqual(ask("DELETE", base)[0], 200)
        self.assertEqual(ask("GET", f"{base}/0/0/10")[0], 404)
        self.assertEqual(set(frozen.iterdir()) if frozen.exists() else set(), before)

    # -- backup and restore

    def test_a_restored_database_has_every_item(self):
        data = self.restored()
        with server.Server(str(data)) as running:
            connection = running.connect()
            self.assertEqual(scan(connection), self.expected)
            self.assertEqual(len(scan(connection, IndexName="ByYear")), len(self.expected))
            write(connection, [5])
        stator("check", "--data", data, check=0)

    def test_a_later_backup_copies_only_what_is_new(self):
        def size(folder):
            return sum(path.stat().st_size for path in folder.rglob("*"))

        backups = self.own / "b"
        with server.Server(str(self.restored())) as running:
            copied = []  # The database may merge its files between two backups; the next one finds them merged.
            for number in range(20_000, 20_004):
                before = size(backups)
                write(running.connect(), [number])
                stator("backup", backups, "--endpoint", running.endpoint, check=0)
                copied.append(size(backups) - before)
            self.assertLess(min(copied[1:]), 50_000, f"the data has {copied[0]} bytes")
            _, text = stator("backup", "--list", backups, check=0)
            self.assertEqual(len(text.splitlines()), 4, text)
            stator("backup", "--verify", backups, check=0)
            stator("backup", backups, "--endpoint", running.endpoint, "--keep", 1, check=0)
        _, text = stator("backup", "--list", backups, check=0)
        self.assertEqual(len(text.splitlines()), 1, text)
        stator("backup", "--verify", backups, check=0)

    def test_a_backup_while_others_write_is_one_moment(self):
        """A transaction writes the same number to two items, so a backup that has two numbers is of two moments."""
        with server.Server() as running:
            running.connect().ok("CreateTable", **TABLE)
            stop, last = threading.Event(), [0]

            def writer():
                connection = running.connect()
                while not stop.is_set():
                    number = last[0] + 1
                    connection.ok("TransactWriteItems", TransactItems=[
                        {"Put": {"TableName": "Music", "Item": {**item(n, "z" * 20), "n": {"N": str(number)}}}} for n in (1, 2)])
                    last[0] = number

            thread = threading.Thread(target=writer)
            thread.start()
            backups, acknowledged = self.own / "b", []
            try:
                for _ in range(3):
                    acknowledged.append(last[0])
                    stator("backup", backups, "--endpoint", running.endpoint, check=0)
            finally:
                stop.set()
                thread.join()
            ids = [line.split()[0] for line in stator("backup", "--list", backups, check=0)[1].splitlines()]
            self.assertEqual(len(ids), 3)
        for identifier, before in zip(ids, acknowledged):
            data = self.own / identifier
            stator("restore", backups, "--data", data, "--backup", identifier, check=0)
            stator("check", "--data", data, check=0)
            with server.Server(str(data)) as running:
                numbers = {found["n"]["N"] for found in scan(running.connect())}
                self.assertLessEqual(len(numbers), 1)
                self.assertGreaterEqual(int(max(numbers, default="0")), before)

    def test_a_stopped_database_is_backed_up(self):
        data = self.restored()
        stator("backup", self.own / "b", "--data", data, check=0)
        stator("restore", self.own / "b", "--data", self.own / "again", check=0)
        with server.Server(str(self.own / "again")) as running:
            self.assertEqual(scan(running.connect()), self.expected)

    def test_a_backup_that_is_killed_leaves_nothing_half_done(self):
        backups = self.own / "b"
        done = 0
        for pause in (0.05, 0.1, 0.2):
            process = subprocess.Popen([server.binary(), "backup", str(backups), "--endpoint", self.server.endpoint],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            waiting.let_work(pause)
            process.send_signal(signal.SIGKILL)
            process.wait()
            status, text = stator("backup", "--list", backups)
            done = len([line for line in text.splitlines() if " commit " in line]) if status == 0 else done
            if done:
                stator("backup", "--verify", backups, check=0)
        stator("backup", backups, "--endpoint", self.server.endpoint, check=0)
        stator("backup", "--verify", backups, check=0)
        self.assertEqual(list((backups / "partial").iterdir()), [])
        stator("restore", backups, "--data", self.own / "data", check=0)
        stator("check", "--data", self.own / "data", check=0)

    def test_a_server_that_is_killed_during_a_backup_starts_clean(self):
        data = self.restored()
        running = server.Server(str(data)).start()
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
        connection.request("POST", "/stator/backups", headers={"X-Stator-Tool": "1"})
        self.assertEqual(connection.getresponse().status, 200)
        self.assertTrue(any((data / "FROZEN").iterdir()))
        running.kill()
        with server.Server(str(data)) as again:
            self.assertFalse((data / "FROZEN").exists())
            self.assertEqual(scan(again.connect()), self.expected)

    def test_a_damaged_backup_is_found_and_refused(self):
        backups = self.own / "b"
        shutil.copytree(self.folder / "backups", backups)
        damaged = newest(backups / "files", "*")
        flip(damaged)
        status, text = stator("backup", "--verify", backups)
        self.assertEqual(status, 1, text)
        self.assertIn(damaged.name, text)
        status, text = stator("restore", backups, "--data", self.own / "data")
        self.assertEqual(status, 1, text)
        self.assertIn("damaged", text)
        self.assertFalse((self.own / "data").exists())
        manifest = next((backups / "backups").iterdir())
        flip(manifest)
        status, text = stator("restore", backups, "--data", self.own / "data")
        self.assertEqual(status, 1, text)
        self.assertIn("checksum", text)

    def test_the_next_backup_copies_a_damaged_file_again(self):
        with server.Server(str(self.restored())) as running:
            for attempt in range(5):  # a compaction after the start of the server may replace the file before the next backup
                backups = self.own / f"b{attempt}"
                stator("backup", backups, "--endpoint", running.endpoint, check=0)
                flip(max((path for path in (backups / "files").iterdir() if not path.name.startswith("none")),
                         key=lambda path: path.stat().st_size))
                stator("backup", backups, "--endpoint", running.endpoint, "--quick", check=0)
                self.assertEqual(stator("backup", "--verify", backups)[0], 1)
                _, text = stator("backup", backups, "--endpoint", running.endpoint, check=0)
                if "copied again" in text:
                    break
            self.assertIn("copied again", text)
        stator("backup", "--verify", backups, check=0)

    def test_a_damaged_database_is_not_backed_up(self):
        data = self.restored()
        flip(newest(data, "*.sst"))
        status, text = stator("backup", self.own / "b", "--data", data)
        self.assertEqual(status, 1, text)
        self.assertIn("damaged", text)
        self.assertIn(f"stator check --data {data}", text)
        self.assertIn(f"stator repair --data {data}", text)
        self.assertIn("no complete backup", stator("restore", self.own / "b", "--data", self.own / "x")[1])

    def test_a_folder_with_something_in_it_is_not_restored_over(self):
        data = self.restored()
        before = sorted(path.name for path in data.iterdir())
        status, text = stator("restore", self.folder / "backups", "--data", data)
        self.assertEqual(status, 1, text)
        self.assertIn("not empty", text)
        self.assertEqual(sorted(path.name for path in data.iterdir()), before)

    def test_backups_are_for_their_owner_alone(self):
        data = self.restored()
        for root in (self.folder / "backups", data):
            for path in [root, *root.rglob("*")]:
                self.assertEqual(path.stat().st_mode & 0o077, 0, path)


class InMemory(unittest.TestCase):
    def test_a_database_in_memory_is_checked_and_says_why_it_has_no_backup(self):
        with server.Server("memory") as running, tempfile.TemporaryDirectory() as folder:
            fill(running.connect(), 100)
            stator("check", "--endpoint", running.endpoint, check=0)
            status, text = stator("backup", folder + "/b", "--endpoint", running.endpoint)
            self.assertEqual(status, 1, text)
            self.assertIn("in memory", text)
            with self.assertRaises(ApiError) as refused:
                running.connect().ok("CreateBackup", TableName="Music", BackupName="first")
            self.assertIn("stator backup", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
