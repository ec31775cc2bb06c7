"""Stories: made, renamed, deleted, looked through, restored, purged."""

import concurrent.futures
import time

from desk import NOWHERE, TABLE, Desk, DeskAndTable


class Stories(Desk):

    def test_a_story_is_created_read_and_renamed(self):
        story = self.ann.story()
        path = f"/stories/{story['id']}"
        self.assertEqual(self.expect(self.ann("GET", path), 200).json, story)
        self.assertEqual((story["deleted"], story["nodeCount"]), (False, 0))
        renamed = self.expect(self.ann("PATCH", path, {"title": "The tower"}, If_Match='"1"'), 200).json
        self.assertEqual((renamed["title"], renamed["CreatedAt"]), ("The tower", story["CreatedAt"]))
        self.assertEqual([one["title"] for one in self.ann.items("/stories")], ["The tower"])
        self.expect(self.ann("PATCH", path, {"title": "Another"}, If_Match='"1"'), 412)

    def test_a_deleted_story_is_only_among_the_deleted(self):
        kept, gone = self.ann.story("Kept"), self.ann.story("Gone")
        path = f"/stories/{gone['id']}"
        self.expect(self.ann("DELETE", path), 204)
        self.assertEqual([story["title"] for story in self.ann.items("/stories")], ["Kept"])
        (deleted,) = self.ann.items("/stories?deleted=true")
        self.assertEqual((deleted["title"], deleted["deleted"], deleted["CreatedAt"]), ("Gone", True, gone["CreatedAt"]))
        self.expect(self.ann("GET", path), 404)
        self.assertTrue(self.expect(self.ann("GET", f"{path}?includeDeleted=true"), 200).json["deleted"])
        self.expect(self.ann("DELETE", path), 404)
        self.expect(self.ann("PATCH", path, {"title": "x"}), 404)
        self.expect(self.ann("POST", f"/stories/{kept['id']}/restore"), 409, "NotDeleted")
        self.expect(self.ann("DELETE", f"/stories/{kept['id']}/purge"), 409, "NotDeleted")

    def test_a_restored_story_is_what_it_was(self):
        story = self.ann.story()
        node = self.ann.node(story, label="door", nodeOrder=100)
        path = f"/stories/{story['id']}"
        self.expect(self.ann("DELETE", path), 204)
        restored = self.expect(self.ann("POST", f"{path}/restore"), 200).json
        self.assertEqual({name: restored[name] for name in ("title", "CreatedAt", "deleted", "nodeCount")},
                         {"title": story["title"], "CreatedAt": story["CreatedAt"], "deleted": False, "nodeCount": 1})  # fmt: skip
        self.assertNotIn("DeletedAt", restored)
        self.assertEqual(self.expect(self.ann("GET", f"{path}/nodes/{node['id']}"), 200).json, node)
        self.assertEqual(self.ann.items("/stories?deleted=true"), [])
        self.assertEqual(len(self.ann.items("/stories")), 1)

    def test_a_purged_story_is_gone_with_its_nodes(self):
        story = self.ann.story()
        self.ann.node(story, label="door", nodeOrder=100)
        path = f"/stories/{story['id']}"
        self.expect(self.ann("DELETE", path), 204)
        self.expect(self.ann("DELETE", f"{path}/purge"), 204)
        self.expect(self.ann("GET", f"{path}?includeDeleted=true"), 404)
        self.expect(self.ann("POST", f"{path}/restore"), 404)
        self.assertEqual(self.ann.items("/stories?deleted=true"), [])

    def test_what_is_below_a_deleted_story_is_not_found_either(self):
        story = self.ann.story()
        node = self.ann.node(story, label="door", nodeOrder=100)
        path = f"/stories/{story['id']}"
        self.expect(self.ann("PATCH", path, {"startNodeId": node["id"]}), 200)
        session = self.expect(self.ann("POST", f"{path}/sessions", {}), 201).json
        self.expect(self.ann("DELETE", path), 204)
        for method, target, body in (("GET", f"/nodes/{node['id']}", None), ("PATCH", f"/nodes/{node['id']}", {"label": "x"}),
                                     ("DELETE", f"/nodes/{node['id']}", None), ("POST", "/nodes", {"nodeOrder": 1}), ("GET", "/nodes", None),
                                     ("GET", "/full", None), ("GET", "/check", None), ("GET", "/export", None),
                                     ("POST", "/reorder", {"nodeIds": [node["id"]]}), ("POST", "/sessions", {}), ("GET", "/sessions", None),
                                     ("GET", f"/sessions/{session['sessionId']}", None),
                                     ("POST", f"/sessions/{session['sessionId']}/choose", {"response": 0})):  # fmt: skip
            with self.subTest(method=method, target=target):
                self.expect(self.ann(method, path + target, body), 404, "NotFound")

    def test_a_deleted_story_can_be_looked_through_by_its_owner(self):
        story, ids = self.ann.imported(3)
        path = f"/stories/{story['id']}"
        session = self.expect(self.ann("POST", f"{path}/sessions", {}), 201).json["sessionId"]
        reads = ("/full", "/nodes", f"/nodes/{ids[0]}", "/export", "/export?format=twee", "/check", "/sessions", f"/sessions/{session}")
        before = [self.expect(self.ann("GET", path + target), 200).body for target in reads]
        self.expect(self.ann("DELETE", path), 204)
        for target, body in zip(reads, before):
            with self.subTest(target=target):
                asked = f"{path}{target}{'&' if '?' in target else '?'}includeDeleted="
                answer = self.expect(self.ann("GET", f"{asked}true"), 200)
                if target == "/full":
                    (part,) = answer.json["items"]
                    self.assertEqual((part["deleted"], [node["id"] for node in part["nodes"]]), (True, ids))
                else:
                    self.assertEqual(answer.body, body)
                self.expect(self.ann("GET", f"{asked}false"), 404)
                self.expect(self.ann("GET", f"{asked}maybe"), 400)
                self.expect(self.bob("GET", f"{asked}true"), 404)
                self.expect(self.nobody("GET", f"{asked}true"), 401)
        pages = self.expect(self.ann("GET", f"{path}/full?includeDeleted=true&limit=2"), 200).json
        rest = self.expect(self.ann("GET", f"{path}/full?includeDeleted=true&limit=2&nextToken={pages['nextToken']}"), 200).json
        self.assertEqual((rest["items"][0]["continued"], [node["id"] for node in rest["items"][0]["nodes"]]), (True, ids[1:]))

    def test_nothing_is_written_below_a_deleted_story_however_it_is_asked_for(self):
        story, (first, *_) = self.ann.imported(1)
        path = f"/stories/{story['id']}"
        self.expect(self.ann("DELETE", path), 204)
        for method, target, body in (("PATCH", f"/nodes/{first}", {"label": "x"}), ("DELETE", f"/nodes/{first}", None), ("POST", "/nodes", {}),
                                     ("POST", "/reorder", {"nodeIds": [first]}), ("POST", "/sessions", {}), ("PATCH", "", {"title": "x"})):  # fmt: skip
            with self.subTest(method=method, target=target):
                self.expect(self.ann(method, f"{path}{target}?includeDeleted=true", body), 400)
                self.expect(self.ann(method, path + target, body), 404)

    def test_lists_are_paginated(self):
        for i in range(5):
            self.ann.story(f"Story {i}")
        self.assertEqual(len(self.ann.items("/stories?limit=2")), 5)
        for query in ("limit=0", "limit=101", "nextToken=x", "deleted=maybe"):
            self.expect(self.ann("GET", f"/stories?{query}"), 400)


class Limits(Desk):
    def test_titles_have_limits_and_nobody_sets_what_is_not_theirs(self):
        self.expect(self.ann("POST", "/stories", {"title": "é" * 200}), 201)
        for body in ({}, {"title": ""}, {"title": "é" * 201}, {"title": 7}, {"title": "x", "startNodeId": "y"}):
            with self.subTest(body=body):
                self.expect(self.ann("POST", "/stories", body), 400, "Invalid")
        names = {"PK", "SK", "id", "deleted", "DeletedAt", "CreatedAt", "UpdatedAt", "nodeCount", "importing", "arrangement", "PurgeAt", "Version"}
        answer = self.expect(self.ann("POST", "/stories", {"title": "x", **dict.fromkeys(names, "y")}), 400)
        self.assertEqual(set(answer.problems()), names)

    def test_names_can_be_seen(self):
        self.expect_visible(lambda body: self.ann("POST", "/stories", body), {"title": "x"}, ("title",))
        path = f"/stories/{self.ann.story()['id']}"
        self.expect_visible(lambda body: self.ann("PATCH", path, body), {}, ("title",))
        self.expect_visible(lambda body: self.ann("POST", f"{path}/nodes", body), {}, ("label", "type"), ("prompt",))
        answer = self.expect(self.ann("POST", f"{path}/nodes", {"responses": [{"label": "x"}, {"label": " "}, {"label": "a\0"}]}), 400)
        self.assertEqual(set(answer.problems()), {"responses[1].label", "responses[2].label"})
        for title in (" ", "a\0b"):
            self.expect(self.ann("POST", "/stories/import", {"title": title, "nodes": []}), 400)
        self.expect(self.ann("POST", "/stories/import", ":: a\x01b\nx", Content_Type="text/twee"), 400)

    def test_what_belongs_to_somebody_else_is_not_there(self):
        story = self.ann.story()
        node = self.ann.node(story, label="door", nodeOrder=100)
        path = f"/stories/{story['id']}"
        self.expect(self.ann("PATCH", path, {"startNodeId": node["id"]}), 200)
        session = f"{path}/sessions/{self.expect(self.ann('POST', f'{path}/sessions', {}), 201).json['sessionId']}"
        for method, target, body in (("GET", path, None), ("GET", f"{path}?includeDeleted=true", None), ("PATCH", path, {"title": "x"}),
                                     ("DELETE", path, None), ("POST", f"{path}/restore", None), ("DELETE", f"{path}/purge", None),
                                     ("GET", f"{path}/full", None), ("GET", f"{path}/nodes", None), ("POST", f"{path}/nodes", {"nodeOrder": 1}),
                                     ("GET", f"{path}/nodes/{node['id']}", None), ("PATCH", f"{path}/nodes/{node['id']}", {"label": "x"}),
                                     ("DELETE", f"{path}/nodes/{node['id']}", None), ("POST", f"{path}/reorder", {"nodeIds": [node["id"]]}),
                                     ("GET", f"{path}/check", None), ("GET", f"{path}/export", None), ("POST", f"{path}/sessions", {}),
                                     ("GET", f"{path}/sessions", None), ("GET", session, None), ("DELETE", session, None),
                                     ("POST", f"{session}/choose", {"response": 0})):  # fmt: skip
            with self.subTest(method=method, target=target):
                self.expect(self.bob(method, target, body), 404, "NotFound")
                self.expect(self.nobody(method, target, body), 401, "Unauthenticated")
        self.assertEqual(self.bob.items("/stories"), [])

    def test_a_story_that_is_not_there_is_404(self):
        for target in (f"/stories/{NOWHERE}", "/stories/x", f"/stories/{NOWHERE}/full", f"/stories/{NOWHERE}/check"):
            self.expect(self.ann("GET", target), 404)


class Rows(DeskAndTable):
    def test_keys_are_those_of_the_data_model(self):
        story = self.ann.story()
        node = self.ann.node(story, label="door", nodeOrder=100)
        id, user = story["id"], f"USER#{self.subject}"
        self.assertEqual(self.keys(user), [f"STORY#{id}"])
        self.assertEqual(self.keys(f"{user}#STORY#{id}"), ["METADATA", f"NODE#{node['id']}"])
        main, row = self.partition(f"{user}#STORY#{id}")
        self.assertEqual((main["ItemType"]["S"], row["ItemType"]["S"]), ("Story", "Node"))
        self.assertEqual(row["NodeOrderSK"]["S"], f"STORY#0000000100#{node['id']}")

    def test_a_story_has_exactly_one_index_record_equal_to_the_main_one(self):
        story = self.ann.story()
        user, path = f"USER#{self.subject}", f"/stories/{story['id']}"

        def check(live):
            here, there = (user, f"DELETED#{user}") if live else (f"DELETED#{user}", user)
            self.assertEqual(self.keys(there), [])
            (index,) = self.partition(here)
            main = next(row for row in self.partition(f"{user}#STORY#{story['id']}") if row["SK"]["S"] == "METADATA")
            for name in ("id", "title", "CreatedAt", "UpdatedAt", "deleted"):
                self.assertEqual(index[name], main[name], name)
            self.assertEqual(main["deleted"]["BOOL"], not live)
            self.assertEqual("PurgeAt" in main, not live)

        check(True)
        self.expect(self.ann("PATCH", path, {"title": "Renamed"}), 200)
        check(True)
        self.expect(self.ann("DELETE", path), 204)
        check(False)
        self.expect(self.ann("POST", f"{path}/restore"), 200)
        check(True)

    def test_a_deleted_story_expires_and_its_nodes_and_sessions_with_it(self):
        story, ids = self.ann.imported(150)
        self.expect(self.ann("POST", f"/stories/{story['id']}/sessions", {}), 201)
        user, path = f"USER#{self.subject}", f"/stories/{story['id']}"
        self.expect(self.ann("DELETE", path), 204)
        key = {"PK": {"S": f"{user}#STORY#{story['id']}"}, "SK": {"S": "METADATA"}}
        due = int(self.database.ok("GetItem", TableName=TABLE, Key=key)["Item"]["PurgeAt"]["N"])
        self.assertAlmostEqual(due, time.time() + 30 * 86400, delta=600)
        self.database.ok("UpdateItem", TableName=TABLE, Key=key, UpdateExpression="SET PurgeAt = :past",
                         ExpressionAttributeValues={":past": {"N": str(int(time.time()) - 5)}})  # fmt: skip
        self.wait_until(lambda: self.keys(f"{user}#STORY#{story['id']}") == [] and self.keys(f"DELETED#{user}") == [])
        self.expect(self.ann("POST", f"{path}/restore"), 404)

    def test_sixteen_who_delete_and_restore_leave_one_whole_story(self):
        story = self.ann.story()
        path, user = f"/stories/{story['id']}", f"USER#{self.subject}"
        turn = lambda i: self.ann(*(("DELETE", path) if i % 2 else ("POST", f"{path}/restore"))).status  # noqa: E731
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertLessEqual(set(pool.map(turn, range(64))), {200, 204, 404, 409})
        self.assertEqual(len(self.keys(user)) + len(self.keys(f"DELETED#{user}")), 1)
