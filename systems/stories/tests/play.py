"""Playing: a session stands at a node, keeps variables, and moves along responses."""

import concurrent.futures

from desk import Desk


class Playing(Desk):

    def setUp(self):
        super().setUp()
        self.story = self.ann.story()
        self.path = f"/stories/{self.story['id']}"
        self.shop, self.street = (self.ann.node(self.story, label=label) for label in ("shop", "street"))
        self.set_responses(self.shop, [{"label": "Pay", "targetNodeId": self.street["id"], "condition": "coins >= 3",
                                        "set": {"coins": "=coins - 3", "lamp": True}},
                                       {"label": "Leave", "targetNodeId": self.street["id"]}])  # fmt: skip
        self.set_responses(self.street, [{"label": "Back", "targetNodeId": self.shop["id"]}, {"label": "Nowhere"}])
        self.expect(self.ann("PATCH", self.path, {"startNodeId": self.shop["id"]}), 200)

    def set_responses(self, node, responses):
        self.expect(self.ann("PATCH", f"{self.path}/nodes/{node['id']}", {"responses": responses}), 200)

    def start(self, **variables):
        answer = self.expect(self.ann("POST", f"{self.path}/sessions", {"variables": variables}), 201)
        return f"{self.path}/sessions/{answer.json['sessionId']}"

    def choose(self, session, response, **more):
        return self.ann("POST", f"{session}/choose", {"response": response, **more})

    def test_a_session_begins_at_the_start_with_its_variables(self):
        answer = self.expect(self.ann("POST", f"{self.path}/sessions", {"variables": {"coins": 2}}), 201)
        session = answer.json
        self.assertEqual((session["currentNodeId"], session["variables"], session["moves"]), (self.shop["id"], {"coins": 2}, 0))
        self.assertEqual((session["node"]["label"], session["node"]["id"]), ("shop", self.shop["id"]))
        self.assertEqual(session["choices"], [{"response": 0, "label": "Pay", "open": False}, {"response": 1, "label": "Leave", "open": True}])
        self.assertEqual(self.expect(self.ann("GET", answer.headers["Location"]), 200).json, session)

    def test_a_response_moves_and_sets_variables(self):
        session = self.start(coins=5)
        moved = self.expect(self.choose(session, 0), 200).json
        self.assertEqual((moved["currentNodeId"], moved["variables"], moved["moves"]), (self.street["id"], {"coins": 2, "lamp": True}, 1))
        self.assertEqual(moved["node"]["label"], "street")
        self.expect(self.choose(session, 0), 200)
        self.expect(self.choose(session, 0), 409, "ConditionNotMet")
        stored = self.expect(self.ann("GET", session), 200).json
        self.assertEqual((stored["currentNodeId"], stored["variables"], stored["moves"]), (self.shop["id"], {"coins": 2, "lamp": True}, 2))

    def test_what_cannot_be_chosen_changes_nothing(self):
        session = self.start()
        self.expect(self.choose(session, 0), 409, "ConditionNotMet")
        self.expect(self.choose(session, 2), 400, "Invalid")
        for body in ({}, {"response": -1}, {"response": "x"}, {"response": 50}):
            self.expect(self.ann("POST", f"{session}/choose", body), 400)
        self.expect(self.choose(session, 1, nodeId=self.street["id"]), 409, "MovedOn")
        self.expect(self.choose(session, 1, nodeId=self.shop["id"]), 200)
        self.expect(self.choose(session, 1), 409, "LeadsNowhere")
        self.assertEqual(self.ann("GET", session).json["moves"], 1)

    def test_a_story_that_changes_under_a_reader(self):
        session = self.start(coins="many")
        self.set_responses(self.shop, [{"targetNodeId": self.street["id"], "set": {"coins": "=coins - 1"}}])
        self.expect(self.choose(session, 0), 409, "BrokenRule")
        self.set_responses(self.shop, [{"targetNodeId": self.street["id"]}])
        self.expect(self.ann("DELETE", f"{self.path}/nodes/{self.street['id']}"), 200)
        self.expect(self.choose(session, 0), 409, "BrokenLink")
        self.expect(self.ann("DELETE", f"{self.path}/nodes/{self.shop['id']}"), 200)
        self.expect(self.choose(session, 0), 409, "NodeGone")
        lost = self.expect(self.ann("GET", session), 200).json
        self.assertEqual((lost["choices"], "node" in lost), ([], False))
        self.expect(self.ann("POST", f"{self.path}/sessions", {}), 409, "NoStart")

    def test_a_choice_whose_target_was_deleted_is_not_open(self):
        session = self.start(coins=5)
        self.expect(self.ann("DELETE", f"{self.path}/nodes/{self.street['id']}"), 200)
        self.assertEqual([choice["open"] for choice in self.expect(self.ann("GET", session), 200).json["choices"]], [False, False])
        self.assertEqual([choice["open"] for choice in self.expect(self.ann("POST", f"{self.path}/sessions", {}), 201).json["choices"]], [False, False])

    def test_a_story_has_variables_with_which_sessions_begin(self):
        self.expect(self.ann("PATCH", self.path, {"variables": {"coins": 4, "lamp": False}}), 200)
        session = self.expect(self.ann("POST", f"{self.path}/sessions", {"variables": {"coins": 5, "name": "Ann"}}), 201).json
        self.assertEqual(session["variables"], {"coins": 5, "lamp": False, "name": "Ann"})
        self.assertEqual(self.expect(self.choose(self.start(), 0), 200).json["variables"], {"coins": 1, "lamp": True})
        for variables in ({"a b": 1}, {"text": "x" * 40000}, {f"v{i}": i for i in range(101)}):
            self.expect(self.ann("PATCH", self.path, {"variables": variables}), 400, "Invalid")

    def test_sessions_are_listed_newest_first_and_deleted(self):
        sessions = [self.start(turn=turn) for turn in range(3)]
        self.assertEqual([session["variables"]["turn"] for session in self.ann.items(f"{self.path}/sessions?limit=2")], [2, 1, 0])
        self.expect(self.ann("DELETE", sessions[1]), 204)
        self.expect(self.ann("DELETE", sessions[1]), 404)
        self.expect(self.ann("GET", sessions[1]), 404)
        self.assertEqual(len(self.ann.items(f"{self.path}/sessions")), 2)

    def test_variables_are_bounded(self):
        for variables in ({"a b": 1}, {"text": "x" * 40000}, {f"v{i}": i for i in range(101)}):
            self.expect(self.ann("POST", f"{self.path}/sessions", {"variables": variables}), 400)

    def test_sixteen_clicks_at_one_node_move_once(self):
        session = self.start()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(lambda _: self.choose(session, 1, nodeId=self.shop["id"]).status, range(16)))
        self.assertEqual((statuses.count(200), statuses.count(409)), (1, 15))
        self.assertEqual(self.ann("GET", session).json["moves"], 1)
