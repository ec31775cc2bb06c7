"""What a crash leaves: whole stories, each with one index record that is equal to its main record."""

import itertools
import unittest

import server as stator
from desk import TABLE, DeskAndTable


class Crash(DeskAndTable):
    def hammer(self, *turns):
        """Eight writers take turns on stories of theirs and on one that all share, until the server is killed."""
        shared, ids = self.ann.imported(40)
        own = [self.ann.story(f"Story {i}") for i in range(8)]

        def work(client, enough):
            for turn in itertools.count():
                for story in (own[client], shared):
                    turns[turn % len(turns)](story, turn, ids if story is shared else [])
                if turn > 12:
                    enough()

        self.kill_amid(work)
        self.assertIn(" 0 findings", self.app.verify())
        self.app.start()
        self.connect()
        self.check_records()
        return shared, ids

    def check_records(self):
        rows = self.database.items("Scan", TableName=TABLE)
        user = f"USER#{self.subject}"
        main = {row["id"]["S"]: row for row in rows if row["ItemType"]["S"] == "Story" and row["userId"]["S"] == self.subject}
        index = [row for row in rows if row["PK"]["S"] in (user, f"DELETED#{user}")]
        self.assertEqual(sorted(row["id"]["S"] for row in index), sorted(main), "each has one, and nothing else has")
        for row in index:
            story = main[row["id"]["S"]]
            self.assertEqual({name: row[name] for name in ("title", "CreatedAt", "UpdatedAt", "deleted")},
                             {name: story[name] for name in ("title", "CreatedAt", "UpdatedAt", "deleted")})  # fmt: skip
            self.assertEqual(row["PK"]["S"].startswith("DELETED#"), story["deleted"]["BOOL"])

    def rename(self, story, turn, ids):
        self.ann("PATCH", f"/stories/{story['id']}", {"title": f"Title {turn}"})

    def delete(self, story, turn, ids):
        self.ann("DELETE", f"/stories/{story['id']}")

    def restore(self, story, turn, ids):
        self.ann("POST", f"/stories/{story['id']}/restore")

    def reorder(self, story, turn, ids):
        cut = turn % len(ids) if ids else 0
        if ids:
            self.ann("POST", f"/stories/{story['id']}/reorder", {"nodeIds": [*ids[cut:], *ids[:cut]][::-1]})

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_amid_renames(self):
        self.hammer(self.rename)

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_amid_deletions_and_restores(self):
        self.hammer(self.delete, self.restore)

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_amid_reorders_no_node_is_lost(self):
        story, ids = self.hammer(self.reorder)
        self.assertEqual(sorted(node["id"] for node in self.ann.items(f"/stories/{story['id']}/nodes")), ids)

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_amid_all_of_these(self):
        story, ids = self.hammer(self.rename, self.delete, self.rename, self.restore, self.reorder)
        nodes = self.ann.items(f"/stories/{story['id']}/nodes?includeDeleted=true")
        self.assertEqual(sorted(node["id"] for node in nodes), ids)
