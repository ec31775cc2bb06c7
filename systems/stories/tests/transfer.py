"""Stories as documents: out and in, as JSON and as Twee 3, all or nothing."""

import json
import re
import subprocess
import tempfile
import threading
import time
import unittest

import server as stator
from desk import NOWHERE, TABLE, Desk, DeskAndTable

TWEE = """:: StoryTitle
The cave

:: StoryData
{"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC","start":"Mouth"}

:: Hall [big]
An echo. [[Out->Mouth]]

:: Mouth [dark first]
It is dark. [[Go in->Hall]] [[Swim->Sea]]

:: UserScript [script]
alert(1)
"""


class Documents(Desk):

    def exported(self, story, format="json"):
        return self.expect(self.ann("GET", f"/stories/{story['id']}/export?format={format}"), 200)

    def test_an_exported_story_is_imported_as_it_was(self):
        story = self.ann.story("Lighthouse é")
        end = self.ann.node(story, label="end", prompt="Ende.")
        start = self.ann.node(story, label="door", type="passage", prompt="A [[door]].\n:: odd", media={"image": "x.png"}, nodeOrder=0,
                              responses=[{"label": "on", "targetNodeId": end["id"], "condition": "a = 1", "set": {"b": [1, "x"]}}])  # fmt: skip
        self.expect(self.ann("PATCH", f"/stories/{story['id']}", {"startNodeId": start["id"]}), 200)
        answer = self.exported(story)
        self.assertIn("attachment", answer.headers["Content-Disposition"])
        imported = self.expect(self.bob("POST", "/stories/import", answer.body), 201)
        self.assertNotEqual(imported.json["id"], story["id"])
        self.assertEqual((imported.json["title"], imported.json["nodeCount"]), ("Lighthouse é", 2))
        again = self.expect(self.bob("GET", f"/stories/{imported.json['id']}/export"), 200)
        self.assertEqual(again.json, answer.json)
        self.assertEqual([one["title"] for one in self.bob.items("/stories")], ["Lighthouse é"])
        self.expect(self.bob("GET", imported.headers["Location"]), 200)

    def test_twee_comes_in_and_goes_out(self):
        imported = self.expect(self.ann("POST", "/stories/import", TWEE, Content_Type="text/twee"), 201).json
        self.assertEqual((imported["title"], imported["nodeCount"]), ("The cave", 2))
        hall, mouth = self.ann.items(f"/stories/{imported['id']}/nodes")
        self.assertEqual((hall["label"], hall["type"], hall["prompt"]), ("Hall", "big", "An echo. Out"))
        self.assertEqual((mouth["type"], imported["startNodeId"]), ("dark first", mouth["id"]))
        self.assertEqual(mouth["responses"], [{"label": "Go in", "targetNodeId": hall["id"]}, {"label": "Swim"}], "there is no Sea")
        out = self.exported(imported, "twee")
        self.assertTrue(out.headers["Content-Type"].startswith("text/twee"))
        self.assertIn('"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC"', out.body.decode(), "a story stays the same story")
        mine = self.ann.story()
        self.assertIn(f'"ifid":"{mine["id"].upper()}"', self.exported(mine, "twee").body.decode())
        back = self.expect(self.ann("POST", "/stories/import", out.body, Content_Type="text/plain"), 201).json
        strip = lambda story: [(n["label"], n["type"], n["prompt"], [r["label"] for r in n["responses"]])  # noqa: E731
                               for n in self.ann.items(f"/stories/{story['id']}/nodes")]  # fmt: skip
        self.assertEqual(strip(back), strip(imported))

    def imported(self, body, kind="text/twee"):
        return self.expect(self.ann("POST", "/stories/import", body, Content_Type=kind), 201).json

    def nodes(self, story):
        return {node["label"]: node for node in self.ann.items(f"/stories/{story['id']}/nodes")}

    def test_the_text_of_a_link_stays_in_the_prose(self):
        story = self.imported(":: Start\nYou may [[enter it|Inside]], or [[go home]].\n:: Inside\n[[back<-Start]] [[x->Start]]\n:: go home\n")
        nodes = self.nodes(story)
        self.assertEqual(nodes["Start"]["prompt"], "You may enter it, or go home.")
        self.assertEqual(nodes["Start"]["responses"], [{"label": "enter it", "targetNodeId": nodes["Inside"]["id"]},
                                                       {"label": "go home", "targetNodeId": nodes["go home"]["id"]}])  # fmt: skip
        self.assertEqual([response["label"] for response in nodes["Inside"]["responses"]], ["Start", "x"])

    def test_a_link_with_a_setter_keeps_its_target_and_sets_variables(self):
        story = self.imported(":: StoryTitle\nT\n:: Start\n[[Pay|Shop][$coins to $coins - 3, $lamp to true]] [[Dice->Shop][$dice to random(1, 6)]]\n:: Shop\n")
        nodes = self.nodes(story)
        self.assertEqual(nodes["Start"]["responses"], [{"label": "Pay", "targetNodeId": nodes["Shop"]["id"], "set": {"coins": "=coins - 3", "lamp": True}},
                                                       {"label": "Dice", "targetNodeId": nodes["Shop"]["id"]}])  # fmt: skip
        self.assertEqual(story["report"]["notes"], [{"what": "dropped", "passage": "Start", "line": 4,
                                                     "message": "the link cannot set $dice to random(1, 6)"}])  # fmt: skip

    def test_an_import_reports_what_it_dropped_and_changed_and_where(self):
        report = self.imported(TWEE)["report"]
        self.assertEqual((report["nodes"], report["responses"]), (2, 3))
        self.assertEqual(report["notes"], [
            {"what": "changed", "passage": "Mouth", "line": 11, "message": "there is no passage Sea, and the link leads nowhere"},
            {"what": "dropped", "passage": "UserScript", "line": 13, "message": "scripts and styles are not imported"}])  # fmt: skip
        many = self.imported(":: a\n" + ":: x [script]\n" * 1000)["report"]
        self.assertEqual((len(many["notes"]), many["moreNotes"]), (100, 901), "the title is missing, too")
        self.assertEqual(self.imported({"title": "T", "nodes": [{"id": NOWHERE}]}, "application/json")["report"], {"nodes": 1, "responses": 0, "notes": []})

    def test_what_twee_says_beside_the_text_is_kept(self):
        story = self.imported(r""":: StoryTitle
The cave
:: StoryData
{"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC","format":"SugarCube","format-version":"2.36.1","start":"a \\ [b]","tag-colors":{"dark":"red"},"zoom":0.25}
:: StoryInit
<<set $coins to 3>>
:: a \\ \[b\] [dark] {"position":"600,400.5","size":"100,200"}
Text
""")
        (node,) = self.nodes(story).values()
        self.assertEqual((node["label"], story["startNodeId"]), ("a \\ [b]", node["id"]))
        self.assertEqual(node["position"], {"x": 600, "y": 400.5, "width": 100, "height": 200})
        self.assertEqual((story["ifid"], story["variables"]), ("d674c58c-defa-4f70-b7a2-27742230c0fc", {"coins": 3}))
        self.assertEqual(story["twine"], {"format": "SugarCube", "formatVersion": "2.36.1", "zoom": 0.25, "tagColors": [{"tag": "dark", "color": "red"}]})
        self.assertEqual(story["report"]["notes"], [])

    def test_a_story_from_twee_is_exported_as_it_came(self):
        story = self.imported(""":: StoryTitle
The cave
:: StoryData
{"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC","format":"SugarCube","start":"Hall > Mouth","tag-colors":{"dark":"red"}}
:: StoryInit
<<set $coins to 3>>
:: Hall > Mouth [dark] {"position":"600,400"}
You may [[enter it|Inside]], or [[go home|Inside][$coins to $coins - 3, $paid to true]].

[[Inside]]
[[Nowhere]]
:: Inside
One. <<if $x>>
""")
        strip = lambda story: json.loads(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", lambda id: str(ids.setdefault(id[0], len(ids))),  # noqa: E731
                                                self.exported(story).body.decode()))  # fmt: skip
        text = self.exported(story, "twee").body.decode()
        back = self.imported(text)
        ids = {}
        first = strip(story)
        ids = {}
        self.assertEqual(strip(back), first)
        self.assertEqual(self.exported(back, "twee").body.decode(), text)
        self.assertIn("You may [[enter it->Inside]], or [[go home->Inside][$coins to $coins - 3, $paid to true]].\n", text)

    def test_a_story_that_was_written_here_comes_back_from_twee(self):
        story = self.ann.story("T")
        garden = self.ann.node(story, label="Garden", prompt="You are outside.")
        self.ann.node(story, label="Hall", prompt="A door.\n\nIt is old.", responses=[{"label": "Open it", "targetNodeId": garden["id"]},
                                                                                   {"label": "It is old", "targetNodeId": garden["id"]}])  # fmt: skip
        back = self.nodes(self.imported(self.exported(story, "twee").body))
        self.assertEqual(back["Hall"]["prompt"], "A door.\n\nIt is old.")
        self.assertEqual([response["label"] for response in back["Hall"]["responses"]], ["Open it", "It is old"])

    def test_the_stories_of_a_twine_archive_come_in_together(self):
        def passage(pid, name, text):
            return f'<tw-passagedata pid="{pid}" name="{name}" tags="dark" position="6,4" size="1,2">{text}</tw-passagedata>'

        page = f"""<html><script>"<tw-storydata>"</script>
<tw-storydata name="The &quot;cave&quot;" startnode="2" ifid="D674C58C-DEFA-4F70-B7A2-27742230C0FC" format="Harlowe" format-version="3.3.8">
<style role="stylesheet">body {{}}</style><tw-tag name="dark" color="red"></tw-tag>
{passage(1, "Hall &amp; way", "An echo. [[Out-&gt;Mouth]]")}{passage(2, "Mouth", "a &lt; b")}</tw-storydata>
<tw-storydata name="Second" startnode="1">{passage(1, "one", "[[two]]")}</tw-storydata></html>"""
        cave, second = self.expect(self.ann("POST", "/stories/import", page, Content_Type="text/html"), 201).json["stories"]
        self.assertEqual((cave["title"], cave["nodeCount"], second["title"], second["nodeCount"]), ('The "cave"', 2, "Second", 1))
        nodes = self.nodes(cave)
        self.assertEqual((nodes["Hall & way"]["prompt"], nodes["Mouth"]["prompt"]), ("An echo. Out", "a < b"))
        self.assertEqual(cave["startNodeId"], nodes["Mouth"]["id"])
        self.assertEqual(nodes["Mouth"]["position"], {"x": 6, "y": 4, "width": 1, "height": 2})
        self.assertEqual(cave["report"]["notes"], [{"what": "dropped", "line": 3, "message": "scripts and styles are not imported"}])
        self.assertEqual(second["report"]["notes"][0], {"what": "changed", "passage": "one", "line": 5,
                                                        "message": "there is no passage two, and the link leads nowhere"})  # fmt: skip
        self.assertEqual({story["title"] for story in self.ann.items("/stories")}, {'The "cave"', "Second"})
        for body in ("<html></html>", "<tw-storydata>", page.replace('name="one"', f'name="{"x" * 101}"'), "<tw-storydata></tw-storydata>" * 41,
                     f"<tw-storydata>{passage(1, 'a', 'x' * 600000)}</tw-storydata>", f"<tw-storydata name='{'x' * 70000}'></tw-storydata>"):  # fmt: skip
            self.expect(self.ann("POST", "/stories/import", body, Content_Type="text/html"), 400)
        self.assertEqual(len(self.ann.items("/stories")), 2, "all or nothing")

    def test_nodes_of_the_same_name_are_told_apart_in_twee(self):
        story = self.ann.story("T")
        a = self.ann.node(story, label="room", prompt="first")
        self.ann.node(story, label="room", prompt="second", responses=[{"label": "back", "targetNodeId": a["id"]}])
        self.ann.node(story, prompt="nameless")
        text = self.exported(story, "twee").body.decode()
        self.assertIn(":: room\nfirst", text)
        self.assertIn(":: room (2)\nsecond\n[[back->room]]", text)

    def test_equal_labels_as_long_as_labels_may_be_come_back(self):
        story = self.ann.story("T")
        for label in ["é" * 100] * 12 + ["é" * 96 + " (2)"]:
            self.ann.node(story, label=label)
        back = self.expect(self.ann("POST", "/stories/import", self.exported(story, "twee").body, Content_Type="text/twee"), 201).json
        labels = self.ann.labels(back)
        self.assertEqual((labels[:2], labels[10]), (["é" * 100, "é" * 96 + " (2)"], "é" * 95 + " (11)"))
        self.assertEqual((len(set(labels)), max(map(len, labels))), (13, 100))

    def test_a_label_that_is_the_id_of_a_nameless_node_is_told_apart(self):
        nodes = [{"id": NOWHERE, "label": NOWHERE[:-1] + "1"}, {"id": NOWHERE[:-1] + "1"}]
        story = self.expect(self.ann("POST", "/stories/import", {"title": "T", "nodes": nodes}), 201).json
        self.assertIn(f":: {NOWHERE[:-1]}1 (2)\n", self.exported(story, "twee").body.decode())

    def test_a_byte_order_mark_is_skipped(self):
        for body, kind in ((TWEE, "text/twee"), (json.dumps({"title": "The cave", "nodes": []}), "application/json")):
            imported = self.expect(self.ann("POST", "/stories/import", b"\xef\xbb\xbf" + body.encode(), Content_Type=kind), 201).json
            self.assertEqual(imported["title"], "The cave")

    def test_what_does_not_fit_into_twee_is_said_and_fits_into_json(self):
        story = self.ann.story("T")
        self.ann.node(story, label="a", prompt="[[" * 4999 + "]]")
        answer = self.expect(self.ann("GET", f"/stories/{story['id']}/export?format=twee"), 409, "NotForTwee")
        self.assertEqual(list(answer.problems()), ["a.prompt"])
        self.expect(self.ann("POST", "/stories/import", self.exported(story).body), 201)

    def test_whatever_nests_in_a_node_can_be_exported_and_imported(self):
        def nested(levels):
            return {"a": nested(levels - 1)} if levels > 0 else 1

        story = self.ann.story("T")
        self.ann.node(story, media=nested(29), responses=[{"label": "on", "set": {"x": nested(26)}}])
        for media, more in ((nested(30), {}), (1, {"responses": [{"set": {"x": nested(27)}}]})):
            self.expect(self.ann("POST", f"/stories/{story['id']}/nodes", {"media": media, **more}), 400, "Invalid")
        self.expect(self.ann("POST", "/stories/import", self.exported(story).body), 201)

    def test_a_node_whose_type_means_code_in_twee_is_still_a_passage(self):
        story = self.ann.story("T")
        for kind in ("script", "stylesheet", "passage script"):
            self.ann.node(story, label=kind, type=kind, prompt=kind)
        back = self.expect(self.ann("POST", "/stories/import", self.exported(story, "twee").body, Content_Type="text/twee"), 201).json
        self.assertEqual(self.ann.labels(back), ["script", "stylesheet", "passage script"])

    def test_a_body_that_is_no_text_is_refused(self):
        for kind in ("text/twee", "application/json"):
            self.expect(self.ann("POST", "/stories/import", b":: Start\nhi \xff", Content_Type=kind), 400)

    def test_what_cannot_be_a_story_leaves_nothing(self):
        node = {"id": NOWHERE, "label": "a"}
        for body, place in (({"nodes": []}, "title"), ({"title": "x"}, "nodes"), ({"title": "x", "nodes": [node, node]}, "nodes[1].id"),
                            ({"title": "x", "nodes": [{"label": "a"}]}, "nodes[0].id"), ({"title": "x", "nodes": [], "colour": 1}, "colour"),
                            ({"title": "x", "nodes": [{**node, "prompt": "x" * 10001}]}, "nodes[0].prompt"),
                            ({"title": "x", "nodes": [{**node, "responses": [{"condition": "a >"}]}]}, "nodes[0].responses[0].condition"),
                            ({"title": "x", "version": 2, "nodes": []}, "version"), ({"title": "x", "format": "y", "nodes": []}, "format"),
                            ({"title": "x", "nodes": [{"id": f"00000000-0000-4000-8000-{i:012}"} for i in range(10001)]}, "nodes")):  # fmt: skip
            with self.subTest(place=place):
                answer = self.expect(self.ann("POST", "/stories/import", body), 400, "Invalid")
                self.assertEqual(list(answer.problems()), [place])
        for body, type, status in (("{", "application/json", 400), ("[]", "application/json", 400), ("no passage", "text/twee", 400),
                                   (":: a\n:: a\n", "text/twee", 400), ("x", "text/csv", 415), ("", "text/twee", 400),
                                   (f":: {'x' * 101}\n", "text/twee", 400)):  # fmt: skip
            with self.subTest(body=body[:20], type=type):
                self.expect(self.ann("POST", "/stories/import", body, Content_Type=type), status)
        self.assertEqual((self.ann.items("/stories"), self.ann.items("/stories?deleted=true")), ([], []))
        self.expect(self.nobody("POST", "/stories/import", {"title": "x", "nodes": []}), 401)
        self.expect(self.ann("GET", f"/stories/{self.ann.story()['id']}/export?format=xml"), 400)

    def test_a_large_story_is_imported_whole(self):
        story, ids = self.ann.imported(1000)
        self.assertEqual(story["nodeCount"], 1000)
        self.assertEqual([node["id"] for node in self.exported(story).json["nodes"]], ids)


class Large(Desk):
    arguments = ("--max-body-bytes", str(32 << 20))

    def test_a_story_is_exported_as_long_as_the_document_could_be_imported(self):
        nodes = [{"id": f"00000000-0000-4000-8000-{i:012}", "prompt": "𝄞" * 10000} for i in range(415)]
        story = self.expect(self.ann("POST", "/stories/import", json.dumps({"title": "T", "nodes": nodes}, ensure_ascii=False).encode()), 201).json
        path = f"/stories/{story['id']}"
        for format in ("json", "twee"):
            self.expect(self.ann("GET", f"{path}/export?format={format}"), 200)
        for _ in range(5):
            self.ann.node(story, prompt="𝄞" * 10000)
        for format in ("json", "twee"):
            self.expect(self.ann("GET", f"{path}/export?format={format}"), 413, "TooLarge")
        for body, kind in ((json.dumps({"title": "T" + " " * (16 << 20), "nodes": []}), "application/json"), (":: a\n" + "x\n" * (8 << 20), "text/twee")):
            self.expect(self.ann("POST", "/stories/import", body, Content_Type=kind), 413, "TooLarge")


    def test_a_story_has_as_many_nodes_as_can_be_looked_at(self):
        nodes = [{"id": f"00000000-0000-4000-8000-{i:012}"} for i in range(10000)]
        story = self.expect(self.ann("POST", "/stories/import", {"title": "T", "nodes": nodes}), 201).json
        path = f"/stories/{story['id']}/nodes"
        for body in ({}, {"nodeOrder": 7}):
            self.expect(self.ann("POST", path, body), 409, "Full")
        self.expect(self.ann("DELETE", f"{path}/{self.ann('GET', f'{path}?limit=1').json['items'][0]['id']}"), 200)
        self.expect(self.ann("POST", path, {"nodeOrder": 7}), 201)


class CutOff(DeskAndTable):
    def out_of_reach(self, story):
        node = "nodes/00000000-0000-4000-8000-000000000000"
        for method, target, body in (("GET", "", None), ("GET", "/full", None), ("GET", "/nodes", None), ("GET", f"/{node}", None), ("GET", "/check", None),
                                     ("GET", "/export", None), ("GET", "/sessions", None), ("POST", "/sessions", {}), ("POST", "/nodes", {"label": "x"}),
                                     ("PATCH", "", {"title": "x"}), ("PATCH", f"/{node}", {"label": "x"}), ("DELETE", f"/{node}", None),
                                     ("DELETE", "", None), ("POST", "/restore", None), ("DELETE", "/purge", None)):  # fmt: skip
            with self.subTest(method=method, target=target):
                self.expect(self.ann(method, f"/stories/{story}{target}", body), 404, "NotFound")
                if method == "GET":
                    self.expect(self.ann(method, f"/stories/{story}{target}?includeDeleted=true"), 404, "NotFound")

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_of_an_import_that_is_cut_off_nothing_stays(self):
        user, body = f"USER#{self.subject}", {"title": "Cut", "nodes": [{"id": f"00000000-0000-4000-8000-{i:012}", "prompt": "x" * 2000} for i in range(3000)]}

        def send():
            try:
                self.ann("POST", "/stories/import", body)
            except OSError:
                pass

        def parts():
            rows = self.database.items("Scan", TableName=TABLE, ProjectionExpression="PK, SK")
            return [row["PK"]["S"] for row in rows if row["PK"]["S"].startswith(f"{user}#STORY#")]

        sender = threading.Thread(target=send)
        sender.start()
        self.wait_until(lambda: len(parts()) > 100)
        self.assertEqual(self.ann.items("/stories"), [], "it is in no list while it is being written")
        self.expect(self.ann("GET", f"/stories/{parts()[0].rsplit('#', 1)[1]}"), 404)
        self.app.kill()
        sender.join()
        self.app.start()
        self.connect()
        self.assertEqual(self.ann.items("/stories"), [])
        left = parts()
        self.assertLess(len(left), 3001)
        self.out_of_reach(left[0].rsplit("#", 1)[1])
        key = {"PK": {"S": left[0]}, "SK": {"S": "METADATA"}}
        due = int(self.database.ok("GetItem", TableName=TABLE, Key=key)["Item"]["PurgeAt"]["N"])
        self.assertLess(due, time.time() + 3700)
        self.database.ok("UpdateItem", TableName=TABLE, Key=key, UpdateExpression="SET PurgeAt = :past",
                         ExpressionAttributeValues={":past": {"N": str(int(time.time()) - 5)}})  # fmt: skip
        self.wait_until(lambda: parts() == [])
        self.app.stop()
        self.assertIn(" 0 findings", self.app.verify())
        self.app.start()


class Sample(Desk):
    def test_the_sample_data_loads_and_is_as_the_rules_say(self):
        with tempfile.TemporaryDirectory() as folder:
            for command in ("demo stories", "model verify stories"):
                done = subprocess.run([stator.binary(), *command.split(), "--data", folder], env=self.app.environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" 0 findings", done.stdout)

    def test_openapi_names_every_route(self):
        document = json.loads(self.app.raw("GET", f"{self.prefix}/openapi.json").body)
        self.assertLessEqual({"/stories", "/stories/{id}", "/stories/{id}/full", "/stories/{id}/reorder", "/stories/{id}/check", "/stories/import",
                              "/stories/{storyId}/nodes/{id}", "/stories/{storyId}/sessions/{sessionId}/choose"}, set(document["paths"]))  # fmt: skip
