"""What the tests of the book tracker share."""

import re

import dynamo
import rest

TABLE = "BookTrackerTable"
NOWHERE = "00000000-0000-4000-8000-000000000000"


class Reader(rest.Caller):
    def book(self, title="Middlemarch", **more):
        answer = self("POST", "/books", {"title": title, **more})
        assert answer.status == 201, answer.body
        return answer.json

    def read(self, book, page):
        answer = self("POST", f"/books/{book['id']}/page", {"page": page})
        assert answer.status == 201, answer.body
        return answer.json

    def note(self, book, content="A thought."):
        answer = self("POST", f"/books/{book['id']}/notes", {"content": content})
        assert answer.status == 201, answer.body
        return answer.json


class Shelf(rest.Rest):
    model, prefix, caller = "book-tracker", "/systems/book-tracker/v1", Reader


class ShelfAndTable(Shelf):
    """With the table itself in reach, beside the service."""

    command = "up"

    def setUp(self):
        super().setUp()
        self.database = dynamo.Connection(re.search(r"API +(http://\S+)", self.app.welcome)[1])
        self.addCleanup(self.database.close)

    def partition(self, subject):
        return self.database.items("Query", TableName=TABLE, KeyConditionExpression="pk = :pk",
                                   ExpressionAttributeValues={":pk": {"S": f"USER#{subject}"}})  # fmt: skip

    def sort_keys(self, subject):
        return sorted(row["sk"]["S"] for row in self.partition(subject))
