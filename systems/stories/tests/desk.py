"""What the tests of stories share."""

import re

import dynamo
import rest

TABLE = "Stories"
NOWHERE = "00000000-0000-4000-8000-000000000000"


class Writer(rest.Caller):
    def story(self, title="The lighthouse", **more):
        answer = self("POST", "/stories", {"title": title, **more})
        assert answer.status == 201, answer.body
        return answer.json

    def node(self, story, **attributes):
        answer = self("POST", f"/stories/{story['id']}/nodes", attributes)
        assert answer.status == 201, answer.body
        return answer.json

    def labels(self, story):
        return [node["label"] for node in self.items(f"/stories/{story['id']}/nodes")]

    def imported(self, count, **more):
        """A story of that many nodes, each leading to the next."""
        ids = [f"00000000-0000-4000-8000-{i:012}" for i in range(count)]
        nodes = [{"id": id, "label": f"n{i}", "prompt": f"Node {i}",
                  "responses": [{"label": "on", "targetNodeId": ids[i + 1]}] if i + 1 < count else []} for i, id in enumerate(ids)]  # fmt: skip
        answer = self("POST", "/stories/import", {"title": "Long", "startNodeId": ids[0], "nodes": nodes, **more})
        assert answer.status == 201, answer.body
        return answer.json, ids


class Desk(rest.Rest):
    model, prefix, caller = "stories", "/systems/stories/v1", Writer


class DeskAndTable(Desk):
    """With the table itself in reach, beside the service."""

    command = "up"

    def setUp(self):
        super().setUp()
        self.connect()
        self.subject = f"ann-{self.name}"

    def connect(self):
        self.database = dynamo.Connection(re.search(r"API +(http://\S+)", self.app.welcome)[1])
        self.addCleanup(self.database.close)

    def partition(self, key):
        return self.database.items("Query", TableName=TABLE, KeyConditionExpression="PK = :pk", ExpressionAttributeValues={":pk": {"S": key}})

    def keys(self, partition):
        return [row["SK"]["S"] for row in self.partition(partition)]
