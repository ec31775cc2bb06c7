#!/usr/bin/env python3
"""Runs .ddb scripts: tests/api/run.py [--endpoint URL] [script or folder ...]

Without --endpoint a Stator is started for the run (see tests/tools/server.py for the variables that choose it).  Each
script has tables of its own, so scripts run side by side; what they created is deleted afterwards.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import sys
import threading
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import dynamo  # noqa: E402
import script as ddb  # noqa: E402
import script_test  # noqa: E402
import server as stator  # noqa: E402
import waiting  # noqa: E402


class Names:
    """The script's table names and the unique names that the endpoint sees."""

    def __init__(self):
        self.unique = {}

    def add(self, name):
        self.unique.setdefault(name, f"{name}-{uuid.uuid4().hex[:8]}")

    def out(self, text):
        """Requests: every whole word that is one of the script's table names."""
        return self.replace(text, self.unique)

    def back(self, text):
        """Answers: the script's own names again."""
        for name, unique in self.unique.items():
            text = text.replace(unique, name)
        return text

    @staticmethod
    def replace(text, mapping):
        if not mapping:
            return text
        words = "|".join(map(re.escape, sorted(mapping, key=len, reverse=True)))
        return re.sub(rf"(?<![\w.-])(?:{words})(?![\w.-])", lambda m: mapping[m.group(0)], text)


class Skipped(Exception):
    """The script is for later."""


class Unexpected(Exception):
    """A step of FindShard or ReadStream is refused."""

    def __init__(self, status, answer):
        super().__init__(status)
        self.status, self.answer = status, answer


class Run:
    """One script against one endpoint."""

    def __init__(self, path, connection, patience, eventual, later):
        self.path, self.connection, self.patience, self.eventual, self.later = path, connection, patience, eventual, later
        self.names = Names()
        self.env = {"$now": str(int(time.time())), "$hour_ago": str(int(time.time()) - 3600)}

    def call(self, operation, body):
        if operation == "ReadStream":
            return self.read_stream(body["StreamArn"])
        if operation == "FindShard":
            return self.find_shard(**body)
        status, answer = self.connection.send(operation, self.names.out(json.dumps(body)).encode())
        try:
            return status, json.loads(self.names.back(answer.decode()) or "{}")
        except ValueError:
            return status, {"__type": "NotJson", "message": answer[:200].decode("utf-8", "replace")}

    def all_of(self, member, operation, body, next_name, start_name):
        """The elements of an answer that comes in pages.  Raises Unexpected."""
        found = []
        while True:
            status, answer = self.call(operation, body)
            if status != 200:
                raise Unexpected(status, answer)
            answer = answer.get("StreamDescription", answer)
            found += answer[member]
            # A stream goes on for ever: it has been read when there is nothing new.
            if not answer.get(next_name) or not answer[member]:
                return found
            body = body | {start_name: answer[next_name]}

    def shards(self, arn):
        """Each shard of a stream, and its records."""
        for shard in self.all_of("Shards", "DescribeStream", {"StreamArn": arn}, "LastEvaluatedShardId", "ExclusiveStartShardId"):
            status, answer = self.call("GetShardIterator", {"StreamArn": arn, "ShardId": shard["ShardId"],
                                                            "ShardIteratorType": "TRIM_HORIZON"})  # fmt: skip
            if status != 200:
                raise Unexpected(status, answer)
            yield shard, self.all_of("Records", "GetRecords", {"ShardIterator": answer["ShardIterator"]}, "NextShardIterator", "ShardIterator")

    def read_stream(self, arn):
        try:
            return 200, {"Records": [record for _, records in self.shards(arn) for record in records]}
        except Unexpected as e:
            return e.status, e.answer

    def find_shard(self, StreamArn, Keys=None):
        shard = None
        try:
            for shard, records in self.shards(StreamArn):
                if any(record["dynamodb"]["Keys"] == Keys for record in records):
                    return 200, shard
        except Unexpected as e:
            return e.status, e.answer
        return (200, shard) if Keys is None and shard else (404, {"__type": "NoShard", "message": f"no shard has records of {Keys}"})

    def execute(self):
        """None, or what failed as file:line with expected and actual.  Raises Skipped."""
        try:
            shown = self.path.relative_to(pathlib.Path.cwd())
        except ValueError:
            shown = self.path
        line = 0
        try:
            for statement in ddb.parse(self.path.read_text(), shown):
                line = statement.line
                if isinstance(statement, ddb.Later):
                    if self.later:
                        continue
                    raise Skipped
                problem = self.step(statement)
                if problem:
                    return f"{shown}:{line}: {problem}"
        except Skipped:
            raise
        except ddb.ScriptError as e:
            return str(e)
        except Exception as e:  # the endpoint went away, or answered no HTTP
            return f"{shown}:{line}: {type(e).__name__}: {e}"
        finally:
            self.clean()
        return None

    def step(self, s):
        if isinstance(s, ddb.Table):
            self.names.add(s.name)
            status, answer = self.call("CreateTable", s.request)
            return f"CreateTable {s.name}: {status} {ddb.show(answer)}" if status != 200 else self.wait_active(s.name)
        if isinstance(s, ddb.Name):
            self.names.add(s.name)
            return None
        if not s.loop:
            return self.request(s)
        name, first, last = s.loop
        for i in range(first, last + 1):
            self.env[name] = i
            if problem := self.request(s):
                return f"{name} = {i}: {problem}"
        return None

    def request(self, s):
        body = ddb.fill(s.body, self.env)
        reads_index = s.operation in ("Query", "Scan") and "IndexName" in body
        patience = self.patience if s.until else self.eventual if reads_index else 0
        for _ in waiting.attempts(patience):
            problem = self.outcome(s, *self.call(s.operation, body))
            if not problem:
                return None
        return f"{s.operation} {problem}"

    def outcome(self, s, status, answer):
        if s.status == 200:
            if status != 200:
                return f"\n  expected ok\n  actual   {status} {ddb.show(answer)}"
            env = dict(self.env)
            expected = ddb.fill(s.answer, env)
            problem = ddb.match(expected, answer, env)
            if problem:
                return f"differs at {problem}\n  expected {ddb.show(expected)}\n  actual   {ddb.show(answer)}"
            self.env = env
            return None
        error = dynamo.ApiError(status, answer)
        expected = f"{s.status} {s.type}: " + "\n                  or ".join(s.messages)
        if status == 200 or (status, error.type) != (s.status, s.type) or \
                not any(ddb.match_message(ddb.substitute(m, self.env), error.message) for m in s.messages):
            actual = f"200 {ddb.show(answer)}" if status == 200 else f"{status} {error.type}: {error.message}"
            return f"\n  expected error {expected}\n  actual   {'ok' if status == 200 else 'error'} {actual}"
        rest = {k: v for k, v in answer.items() if k not in ("__type", "message", "Message")}
        problem = ddb.match(ddb.fill(s.answer, self.env), rest, self.env)
        return f"error {s.type} differs beside its message at {problem}" if problem else None

    def wait_active(self, name):
        for _ in waiting.attempts(self.patience, 0.005):
            status, answer = self.call("DescribeTable", {"TableName": name})
            states = [answer.get("Table", {}).get("TableStatus")] + [
                g.get("IndexStatus") for g in answer.get("Table", {}).get("GlobalSecondaryIndexes", [])]
            if status == 200 and set(states) == {"ACTIVE"}:
                return None
        return f"table {name} is not active after {self.patience} s: {status} {ddb.show(answer)}"

    def clean(self):
        try:
            for name in self.names.unique:
                for _ in waiting.attempts(self.patience, 0.1, 0.1):
                    status, answer = self.call("DeleteTable", {"TableName": name})
                    if "deletion" in str(answer).lower() and "protect" in str(answer).lower():
                        self.call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
                    elif "ResourceInUse" not in str(answer.get("__type")):
                        break
        except Exception:
            pass  # the failure that led here has been reported


def find(arguments):
    paths = []
    for argument in arguments or [HERE]:
        path = pathlib.Path(argument).absolute()
        paths += sorted(path.rglob("*.ddb")) if path.is_dir() else [path]
    return paths or sys.exit("no .ddb script there")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", help="scripts or folders of scripts (default: all)")
    parser.add_argument("--endpoint", help="any DynamoDB endpoint instead of a Stator of our own")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--patience", type=float, default=20, help="seconds to wait for a table state (20)")
    parser.add_argument("--eventual", type=float, default=0, help="seconds in which an index may catch up (0: none)")
    parser.add_argument("--later", action="store_true", help="run also what Stator does not do yet (implied by --endpoint)")
    parser.add_argument("-v", "--verbose", action="store_true", help="name every script")
    a = parser.parse_args()
    report = stator.Report("api")
    paths, skipped, lock = find(a.scripts), [], threading.Lock()
    local = threading.local()
    for problem in script_test.problems():
        report.fail(problem)

    def run_all(endpoint, alive):
        def one(path):
            if not hasattr(local, "connection"):
                local.connection = dynamo.connect(endpoint)
            try:
                problem = Run(path, local.connection, a.patience * stator.slowness(), a.eventual, a.later or a.endpoint).execute()
            except Skipped:
                skipped.append(path)
                return
            with lock:
                report.fail(problem) if problem else report.ok()
                if a.verbose and not problem:
                    print(f"ok   {path.relative_to(HERE) if path.is_relative_to(HERE) else path}", flush=True)
            if not alive():
                raise RuntimeError(f"the server ended during {path}")

        with concurrent.futures.ThreadPoolExecutor(a.threads) as pool:
            for future in [pool.submit(one, path) for path in paths]:
                future.result()

    if a.endpoint:
        run_all(a.endpoint, lambda: True)
    else:
        try:
            with stator.Server() as s:
                try:
                    run_all(s.endpoint, s.alive)
                except RuntimeError as e:
                    report.fail(f"{e}\n{s.log()}")
        except RuntimeError as e:
            report.fail(str(e))
    if skipped:
        print(f"{len(skipped)} scripts are for later (run.py --later)")
    report.finish()


if __name__ == "__main__":
    main()
