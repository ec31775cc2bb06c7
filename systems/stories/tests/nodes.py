"""Nodes: what they hold, their order, and what depends on them."""

import concurrent.futures
import random

from desk import NOWHERE, Desk


class Nodes(Desk):

    def setUp(self):
        super().setUp()
        self.story = self.ann.story()
        self.path = f"/stories/{self.story['id']}"

    def test_a_node_is_created_read_changed_and_deleted(self):
        body = {"nodeOrder": 100, "label": "door", "type": "passage", "prompt": "A door.", "media": {"image": "door.png", "size": [3, 4]},
                "responses": [{"label": "Open", "targetNodeId": NOWHERE, "condition": "key = true", "set": {"open": True}}]}  # fmt: skip
        node = self.expect(self.ann("POST", f"{self.path}/nodes", body), 201).json
        self.assertEqual({name: node[name] for name in body}, body)
        path = f"{self.path}/nodes/{node['id']}"
        self.assertEqual(self.expect(self.ann("GET", path), 200).json, node)
        changed = self.expect(self.ann("PATCH", path, {"label": "gate", "media": None}, If_Match='"1"'), 200).json
        self.assertEqual((changed["label"], "media" in changed, changed["prompt"]), ("gate", False, "A door."))
        self.expect(self.ann("DELETE", path, If_Match='"1"'), 412)
        self.assertEqual(self.expect(self.ann("DELETE", path, If_Match='"2"'), 200).json, {"brokenLinks": [], "wasStart": False})
        self.expect(self.ann("GET", path), 404)
        self.expect(self.ann("DELETE", path), 404)
        self.assertEqual(self.ann("GET", self.path).json["nodeCount"], 0)

    def test_nodes_come_by_their_order_and_the_last_place_is_the_default(self):
        for label, order in (("c", 300), ("a", 100), ("b", 200)):
            self.ann.node(self.story, label=label, nodeOrder=order)
        last = self.ann.node(self.story, label="d")
        self.assertEqual(last["nodeOrder"], 400)
        self.assertEqual(self.ann.labels(self.story), ["a", "b", "c", "d"])
        self.assertEqual([node["label"] for node in self.ann.items(f"{self.path}/nodes?limit=1")], ["a", "b", "c", "d"])

    def test_nodes_of_the_same_order_come_by_id(self):
        nodes = [self.ann.node(self.story, nodeOrder=100) for _ in range(5)]
        self.assertEqual([node["id"] for node in self.ann.items(f"{self.path}/nodes")], sorted(node["id"] for node in nodes))

    def test_limits_are_exact(self):
        self.expect(self.ann("POST", f"{self.path}/nodes", {"label": "é" * 100, "type": "é" * 50, "prompt": "𝄞" * 10000, "nodeOrder": 9999999999}), 201)
        wrong = {"label": "é" * 101, "type": "é" * 51, "prompt": "𝄞" * 10001, "nodeOrder": 10000000000, "responses": [{}] * 51}
        self.assertEqual(set(self.expect(self.ann("POST", f"{self.path}/nodes", wrong), 400).problems()), set(wrong))
        answer = self.expect(self.ann("POST", f"{self.path}/nodes", {"responses": [{"label": "x"}, {"targetNodeId": "y", "colour": "red"}]}), 400)
        self.assertEqual(set(answer.problems()), {"responses[1].targetNodeId", "responses[1].colour"})

    def test_rules_that_make_no_sense_are_refused_where_they_are_written(self):
        bad = [{"condition": "coins >="}, {"set": {"a b": 1}}, {"set": {"coins": "=coins +"}}]
        answer = self.expect(self.ann("POST", f"{self.path}/nodes", {"responses": bad}), 400)
        self.assertEqual(set(answer.problems()), {"responses[0].condition", "responses[1].set.a b", "responses[2].set.coins"})
        node = self.ann.node(self.story, label="x")
        self.expect(self.ann("PATCH", f"{self.path}/nodes/{node['id']}", {"responses": bad}), 400)

    def test_a_node_needs_a_story(self):
        self.expect(self.ann("POST", f"/stories/{NOWHERE}/nodes", {"label": "x"}), 404)
        other = self.ann.story("Other")
        node = self.ann.node(self.story, label="x")
        self.expect(self.ann("GET", f"/stories/{other['id']}/nodes/{node['id']}"), 404)

    def test_a_deleted_node_reports_who_pointed_at_it(self):
        target = self.ann.node(self.story, label="hall")
        loop = [{"label": "again", "targetNodeId": target["id"]}]
        self.expect(self.ann("PATCH", f"{self.path}/nodes/{target['id']}", {"responses": loop}), 200)
        a = self.ann.node(self.story, label="a", responses=[{"label": "no"}, {"label": "go", "targetNodeId": target["id"]}])
        self.expect(self.ann("PATCH", self.path, {"startNodeId": target["id"]}), 200)
        answer = self.expect(self.ann("DELETE", f"{self.path}/nodes/{target['id']}"), 200).json
        self.assertEqual(answer, {"brokenLinks": [{"nodeId": a["id"], "nodeLabel": "a", "response": 1, "label": "go"}], "wasStart": True})
        self.assertEqual(self.ann("GET", f"{self.path}/nodes/{a['id']}").json["responses"][1]["targetNodeId"], target["id"])
        check = self.ann("GET", f"{self.path}/check").json
        self.assertTrue(check["missingStart"])
        self.assertIn({"nodeId": a["id"], "nodeLabel": "a", "response": 1, "targetNodeId": target["id"]}, check["brokenLinks"])

    def test_links_are_cleared_on_request(self):
        target = self.ann.node(self.story, label="hall")
        a = self.ann.node(self.story, label="a", responses=[{"label": "go", "targetNodeId": target["id"]}, {"label": "no"}])
        self.expect(self.ann("PATCH", self.path, {"startNodeId": target["id"]}), 200)
        answer = self.expect(self.ann("DELETE", f"{self.path}/nodes/{target['id']}?clearLinks=true"), 200).json
        self.assertEqual([link["nodeId"] for link in answer["clearedLinks"]], [a["id"]])
        self.assertEqual(self.ann("GET", f"{self.path}/nodes/{a['id']}").json["responses"], [{"label": "go"}, {"label": "no"}])
        self.assertNotIn("startNodeId", self.ann("GET", self.path).json)
        for query in ("clearLinks=maybe", "links=true"):
            self.expect(self.ann("DELETE", f"{self.path}/nodes/{a['id']}?{query}"), 400)


class Many(Desk):
    def test_more_links_than_a_transaction_holds_are_cleared(self):
        target = NOWHERE
        nodes = [{"id": target, "label": "hall"}]
        nodes += [{"id": f"00000000-0000-4000-8000-{i:012}", "responses": [{"label": "go", "targetNodeId": target}, {}]} for i in range(1, 231)]
        story = self.expect(self.ann("POST", "/stories/import", {"title": "Star", "startNodeId": target, "nodes": nodes}), 201).json
        answer = self.expect(self.ann("DELETE", f"/stories/{story['id']}/nodes/{target}?clearLinks=true"), 200).json
        self.assertEqual((len(answer["clearedLinks"]), answer["wasStart"]), (230, True))
        left = self.ann.items(f"/stories/{story['id']}/nodes?limit=100")
        self.assertEqual([node["responses"] for node in left], [[{"label": "go"}, {}]] * 230)
        self.assertEqual(self.ann("GET", f"/stories/{story['id']}").json["nodeCount"], 230)

    def test_sixteen_who_add_nodes_at_once_are_all_counted_and_placed(self):
        story = self.ann.story()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda i: self.ann("POST", f"/stories/{story['id']}/nodes", {"label": f"n{i}"}), range(48)))
        self.assertLessEqual({answer.status for answer in answers}, {201, 409})
        made = sorted(answer.json["nodeOrder"] for answer in answers if answer.status == 201)
        self.assertEqual(len(set(made)), len(made), "each has a place of its own")
        self.assertEqual(self.ann("GET", f"/stories/{story['id']}").json["nodeCount"], len(made))
        self.assertEqual([node["nodeOrder"] for node in self.ann.items(f"/stories/{story['id']}/nodes")], made)


class Order(Desk):
    def reorder(self, story, ids):
        return self.ann("POST", f"/stories/{story['id']}/reorder", {"nodeIds": ids})

    def ids(self, story):
        return [node["id"] for node in self.ann.items(f"/stories/{story['id']}/nodes?limit=100")]

    def test_moving_one_node_is_one_write(self):
        story, ids = self.ann.imported(50)
        wanted = [ids[40], *ids[:40], *ids[41:]]
        self.assertEqual(self.expect(self.reorder(story, wanted), 200).json, {"nodes": 50, "moved": 1})
        self.assertEqual(self.ids(story), wanted)
        self.assertEqual(self.expect(self.reorder(story, wanted), 200).json["moved"], 0)

    def test_any_order_of_more_nodes_than_a_transaction_holds(self):
        story, ids = self.ann.imported(350)
        for wanted in (ids[::-1], random.Random(7).sample(ids, len(ids)), ids):
            self.expect(self.reorder(story, wanted), 200)
            self.assertEqual(self.ids(story), wanted)
        self.assertEqual(self.ann("GET", f"/stories/{story['id']}").json["nodeCount"], 350)

    def test_the_list_names_every_node_once(self):
        story, ids = self.ann.imported(3)
        for wanted, place in ((ids[:2], "nodeIds"), ([*ids, ids[0]], "nodeIds[3]"), ([*ids[:2], NOWHERE[:-1] + "9"], "nodeIds[2]")):
            answer = self.expect(self.reorder(story, wanted), 400, "Invalid")
            self.assertEqual(list(answer.problems()), [place])
        for body in ({}, {"nodeIds": []}, {"nodeIds": ["x"]}, {"nodeIds": ids, "more": 1}):
            self.expect(self.ann("POST", f"/stories/{story['id']}/reorder", body), 400)
        self.assertEqual(self.ids(story), ids)

    def test_reorders_of_sixteen_at_a_time_do_not_mix(self):
        story, ids = self.ann.imported(130)
        orders = [random.Random(seed).sample(ids, len(ids)) for seed in range(16)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda order: self.reorder(story, order), orders))
        self.assertLessEqual({answer.status for answer in answers}, {200, 409})
        done = [order for order, answer in zip(orders, answers) if answer.status == 200]
        self.assertTrue(done)
        self.assertIn(self.ids(story), done)


class Whole(Desk):
    def test_a_story_comes_with_its_nodes_in_order_page_by_page(self):
        story, ids = self.ann.imported(30)
        path, found, token, pages = f"/stories/{story['id']}/full?limit=8", [], "", 0
        while True:
            answer = self.expect(self.ann("GET", path + token), 200).json
            (part,) = answer["items"]
            self.assertEqual((part["id"], part["title"], part.get("continued", False)), (story["id"], "Long", pages > 0))
            found += [node["id"] for node in part["nodes"]]
            pages += 1
            if "nextToken" not in answer:
                break
            token = f"&nextToken={answer['nextToken']}"
        self.assertEqual((found, pages), (ids, 4))

    def test_a_story_without_nodes_is_there_too(self):
        story = self.ann.story()
        (part,) = self.expect(self.ann("GET", f"/stories/{story['id']}/full"), 200).json["items"]
        self.assertEqual((part["id"], part["nodes"]), (story["id"], []))


class Check(Desk):
    def test_a_sound_story_is_sound(self):
        story, ids = self.ann.imported(300)
        check = self.expect(self.ann("GET", f"/stories/{story['id']}/check"), 200).json
        self.assertEqual(check, {"sound": True, "missingStart": False, "brokenLinks": [], "unreachable": [], "unsetVariables": [],
                                 "deadEnds": [{"nodeId": ids[-1], "nodeLabel": "n299"}],
                                 "counts": {"nodes": 300, "brokenLinks": 0, "unreachable": 0, "deadEnds": 1, "unsetVariables": 0}})  # fmt: skip

    def test_what_a_reader_would_stumble_over_is_listed(self):
        story = self.ann.story()
        end = self.ann.node(story, label="end")
        start = self.ann.node(story, label="start", responses=[{"label": "on", "targetNodeId": end["id"]}, {"label": "off", "targetNodeId": NOWHERE}, {}])
        alone = self.ann.node(story, label="alone", responses=[{"targetNodeId": end["id"]}])
        path = f"/stories/{story['id']}"
        self.assertTrue(self.ann("GET", f"{path}/check").json["missingStart"])
        self.expect(self.ann("PATCH", path, {"startNodeId": start["id"]}), 200)
        check = self.expect(self.ann("GET", f"{path}/check"), 200).json
        self.assertEqual((check["sound"], check["missingStart"]), (False, False))
        self.assertEqual((check["unreachable"], check["deadEnds"]), ([{"nodeId": alone["id"], "nodeLabel": "alone"}], [{"nodeId": end["id"], "nodeLabel": "end"}]))
        self.assertEqual(check["brokenLinks"], [{"nodeId": start["id"], "nodeLabel": "start", "response": 1, "targetNodeId": NOWHERE},
                                                {"nodeId": start["id"], "nodeLabel": "start", "response": 2}])  # fmt: skip

    def test_variables_that_are_read_and_never_set_are_found_where_they_are_read(self):
        story = self.ann.story("T", variables={"lamp": True})
        node = self.ann.node(story, label="mine", responses=[{"set": {"coins": "=coins + 5", "key": True}}, {"condition": "key = true AND lamp = true AND luck > 3"}])
        check = self.expect(self.ann("GET", f"/stories/{story['id']}/check"), 200).json
        self.assertEqual(check["unsetVariables"], [{"nodeId": node["id"], "nodeLabel": "mine", "response": 0, "variable": "coins", "where": "set.coins"},
                                                   {"nodeId": node["id"], "nodeLabel": "mine", "response": 1, "variable": "luck", "where": "condition"}])  # fmt: skip
        self.assertEqual(check["counts"]["unsetVariables"], 2)
        self.expect(self.ann("PATCH", f"/stories/{story['id']}", {"variables": {"lamp": True, "coins": 0, "luck": 1}}), 200)
        self.assertEqual(self.ann("GET", f"/stories/{story['id']}/check").json["unsetVariables"], [])

    def test_a_check_comes_page_by_page(self):
        nodes = [{"id": f"00000000-0000-4000-8000-{i:012}", "label": f"n{i}", "responses": [{}, {"condition": "luck > 3"}]} for i in range(400)]
        story = self.expect(self.ann("POST", "/stories/import", {"title": "Broken", "nodes": nodes[::-1]}), 201).json
        path, found, token, pages = f"/stories/{story['id']}/check", {}, "", 0
        while True:
            answer = self.expect(self.ann("GET", f"{path}?limit=300{token}"), 200).json
            self.assertEqual(answer["counts"], {"nodes": 400, "brokenLinks": 800, "unreachable": 400, "deadEnds": 400, "unsetVariables": 400})
            lists = {name: answer[name] for name in ("brokenLinks", "unreachable", "deadEnds", "unsetVariables")}
            self.assertLessEqual(sum(map(len, lists.values())), 300)
            for name, some in lists.items():
                found[name] = found.get(name, []) + [(one["nodeLabel"], one.get("response", 0)) for one in some]
            pages += 1
            if "nextToken" not in answer:
                break
            token = f"&nextToken={answer['nextToken']}"
        self.assertEqual(pages, 7)
        labels = [f"n{i}" for i in reversed(range(400))]
        self.assertEqual(found, {"brokenLinks": [(label, response) for label in labels for response in range(2)], "unreachable": [(label, 0) for label in labels],
                                 "deadEnds": [(label, 0) for label in labels], "unsetVariables": [(label, 1) for label in labels]})  # fmt: skip
        self.assertEqual(len(self.ann("GET", path).json["brokenLinks"]), 100)
        for query in ("limit=0", "limit=1001", "nextToken=x"):
            self.expect(self.ann("GET", f"{path}?{query}"), 400)
        other = self.ann.story()
        self.expect(self.ann("GET", f"/stories/{other['id']}/check?limit=300{token}"), 400)
