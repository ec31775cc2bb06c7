"""The memory that bodies of REST requests can take: of strangers none, of users a little."""

import gzip
import re
import socket
import threading

import rest

MB = 1 << 20
CONNECTIONS = 64


def announced(method, path, token=None, length=16 * MB, **headers):
    """The head of a request, whose body has not been sent."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in ({"Content_Type": "application/json"} | headers).items()]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    return "\r\n".join(lines + ["", ""]).encode()


def answer_to(app, request):
    """The status and the body of the answer to bytes, of which the server need not read all."""
    with socket.create_connection(("127.0.0.1", app.port), rest.PATIENCE) as connection:
        try:
            connection.sendall(request)
        except OSError:
            pass  # it was refused before it was sent
        text = b""
        try:
            while b"\r\n\r\n" not in text:
                piece = connection.recv(65536)
                if not piece:
                    break
                text += piece
            head, _, body = text.partition(b"\r\n\r\n")
            lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
            while lengths and len(body) < int(lengths[0]):
                piece = connection.recv(65536)
                if not piece:
                    break
                body += piece
        except OSError:
            pass
        return (int(text.split(b" ")[1]) if text else None), body


def zipped(begin, repeated, end, size):
    """JSON or another text of about that size, compressed; one piece of it is as long as it takes."""
    return gzip.compress(begin + repeated * ((size - len(begin) - len(end)) // len(repeated)) + end, 9)


def large_story():
    """13 MB of JSON."""
    nodes = b",".join(b'{"id":"00000000-0000-4000-8000-%012d","label":"n%d","prompt":"%s"}' % (n, n, b"x" * 9000) for n in range(1500))
    return b'{"format":"stator-story","version":1,"nodes":[' + nodes + b'],"title":"large"}'


class Flooded(rest.Rest):
    """A system, and many who send it the same at once."""

    list = "/stories"  # for a bystander to look at

    def flood(self, request, connections=CONNECTIONS):
        """Sends the same on many connections at once.  The statuses, and by how much the server grew at most."""
        self.app.forget_peak()
        before, statuses = self.app.resident_bytes(), []

        def send():
            statuses.append(answer_to(self.app, request)[0])

        running = [threading.Thread(target=send) for _ in range(connections)]
        for one in running:
            one.start()
        for one in running:
            one.join()
        self.assertTrue(self.app.alive())
        self.assertEqual(self.ann("GET", self.list).status, 200, "others are served")
        return statuses, self.app.peak_bytes() - before

    def request(self, path, body, token=None, **headers):
        return announced("POST", self.prefix + path, token, len(body), **headers) + body

    def assert_all(self, statuses, expected):
        self.assertEqual(statuses, [expected] * len(statuses))


class Bodies(Flooded):
    model = "stories"
    prefix = "/systems/stories/v1"

    def test_the_head_is_enough_to_refuse_by(self):
        p, t = self.prefix, self.ann.token
        for status, code, head in (
            (401, "Unauthenticated", announced("POST", f"{p}/stories")),
            (401, "InvalidToken", announced("POST", f"{p}/stories", "x.y.z")),
            (401, "InvalidToken", announced("POST", f"{p}/stories", t[:-4] + "AAAA")),
            (401, "Unauthenticated", announced("POST", f"{p}/stories/import")),
            (401, "Unauthenticated", announced("PATCH", f"{p}/stories/x")),
            (404, "NotFound", announced("POST", f"{p}/nothing", t)),
            (404, "NotFound", announced("POST", "/systems/nothing/v1/x", t)),
            (405, "MethodNotAllowed", announced("PUT", f"{p}/stories", t)),
            (415, "UnsupportedMediaType", announced("POST", f"{p}/stories", t, Content_Type="text/csv")),
            (415, "UnsupportedMediaType", announced("POST", f"{p}/stories/import", t, Content_Type="text/csv")),
            (400, "InvalidEncoding", announced("POST", f"{p}/stories", t, Content_Encoding="br")),
            (413, "BodyTooLarge", announced("POST", f"{p}/stories", t)),
            (413, "BodyTooLarge", announced("POST", f"{p}/stories/import", t, 16 * MB + 1)),
        ):
            with self.subTest(head=head):
                answered, body = answer_to(self.app, head)
                self.assertEqual((answered, code in body.decode()), (status, True), body)

    def test_a_stranger_makes_the_server_hold_nothing(self):
        bomb = zipped(b'{"title":"a","x":[1', b",1", b"]}", 16 * MB)
        self.assertLess(len(bomb), 20_000)
        statuses, grown = self.flood(self.request("/stories", bomb, Content_Encoding="gzip"))
        self.assert_all(statuses, 401)
        self.assertLess(grown, 30 * MB)
        statuses, grown = self.flood(self.request("/stories/import", bomb, Content_Encoding="gzip"))
        self.assert_all(statuses, 401)
        self.assertLess(grown, 30 * MB)

    def test_a_user_makes_it_hold_a_megabyte(self):
        token = self.ann.token
        for size, expected in ((16 * MB, {413}), (MB, {400, 503})):  # 503: some have to wait for the memory of others
            bomb = zipped(b'{"title":"a","x":[1', b",1", b"]}", size)
            statuses, grown = self.flood(self.request("/stories", bomb, token, Content_Encoding="gzip"))
            self.assertLessEqual(set(statuses), expected)
            self.assertIn(min(expected), statuses)
            self.assertLess(grown, 250 * MB)
        answer = self.expect(self.ann("POST", "/stories", zipped(b'{"title":"', b"a", b'"}', 2 * MB), Content_Encoding="gzip"), 413, "BodyTooLarge")
        self.assertIn("the setting max_rest_body_bytes", answer.json["message"])

    def test_large_plain_bodies_are_not_read(self):
        body = b'{"title":"' + b"a" * (16 * MB - 20) + b'"}'
        for token, expected in ((None, 401), (self.ann.token, 413)):
            statuses, grown = self.flood(self.request("/stories", body, token), 16)
            # A client that is cut off while sending may miss the answer.
            self.assertLessEqual(set(statuses), {expected, None})
            self.assertIn(expected, statuses)
            self.assertLess(grown, 100 * MB)

    def test_values_that_no_item_can_hold_are_not_built(self):
        story = self.ann("POST", "/stories", {"title": "t"}).json["id"]
        bomb = zipped(b'{"media":[1', b",1", b"]}", MB)
        statuses, grown = self.flood(self.request(f"/stories/{story}/nodes", bomb, self.ann.token, Content_Encoding="gzip"), 4)
        self.assert_all(statuses, 400)
        self.assertLess(grown, 150 * MB)
        self.expect(self.ann("POST", f"/stories/{story}/nodes", gzip.decompress(bomb)), 400, "TooManyValues")

    def test_who_may_not_change_a_row_is_told_so_before_his_body_is_looked_at(self):
        story = self.ann("POST", "/stories", {"title": "t"}).json["id"]
        nonsense = b"{" + b" " * 100_000 + b"nonsense"
        self.expect(self.bob("PATCH", f"/stories/{story}", nonsense), 404, "NotFound")
        self.expect(self.bob("POST", f"/stories/{story}/nodes", nonsense), 404, "NotFound")
        self.expect(self.ann("PATCH", f"/stories/{story}", nonsense), 400, "InvalidJson")

    def test_a_hundred_mistakes_are_told_and_how_many_more(self):
        body = b'{"title":"a"' + b"".join(b',"x%d":1' % n for n in range(80_000)) + b"}"
        answer = self.expect(self.ann("POST", "/stories", body), 400, "Invalid")
        self.assertEqual(len(answer.json["details"]), 100)
        self.assertEqual(answer.json["more"], 79_900)
        self.assertEqual(answer.json["message"], "80000 values are wrong")
        self.assertLess(len(answer.body), 20_000)

    def test_a_name_is_not_sent_back_at_any_length(self):
        answer = self.expect(self.ann("POST", "/stories", b'{"title":"a","' + b"x" * 300_000 + b'":1}'), 400, "Invalid")
        self.assertLess(len(answer.body), 2000)

    def test_an_import_stops_at_the_first_node_too_many(self):
        bomb = zipped(b'{"format":"stator-story","version":1,"title":"t","nodes":[{}', b",{}", b"]}", 16 * MB)
        self.assertLess(len(bomb), 20_000)
        request = self.request("/stories/import", bomb, self.ann.token, Content_Encoding="gzip")
        statuses, grown = self.flood(request)
        self.assert_all(statuses, 400)
        self.assertLess(grown, 100 * MB)
        problem = answer_to(self.app, request)[1]
        self.assertIn(b"must have at most 10000 members", problem)
        self.assertLess(len(problem), 20_000)

    def test_an_import_holds_one_node_at_a_time(self):
        deep = zipped(b'{"title":"t","nodes":[{"id":"00000000-0000-4000-8000-000000000000","media":[1', b",1", b"]}]}", 16 * MB)
        statuses, grown = self.flood(self.request("/stories/import", deep, self.ann.token, Content_Encoding="gzip"), 8)
        self.assert_all(statuses, 400)
        self.assertLess(grown, 150 * MB)
        twee = zipped(b":: a\n", b"[[b]]", b"", 16 * MB)
        request = self.request("/stories/import", twee, self.ann.token, Content_Encoding="gzip", Content_Type="text/twee")
        statuses, grown = self.flood(request)
        self.assert_all(statuses, 400)
        self.assertLess(grown, 150 * MB)

    def test_a_large_story_is_imported_as_it_is_read(self):
        body = large_story()
        self.assertGreater(len(body), 12 * MB)
        statuses, grown = self.flood(self.request("/stories/import", gzip.compress(body, 9), self.ann.token, Content_Encoding="gzip"), 1)
        self.assertEqual(statuses, [201])
        self.assertLess(grown, 150 * MB)
        self.assertEqual([story["title"] for story in self.ann.items("/stories")], ["large"])


class AtTheLimit(Flooded):
    """With memory_limit 512MB the process takes at most 640 MB, whatever users send."""

    model = "stories"
    prefix = "/systems/stories/v1"
    variables = {"STATOR_MEMORY_LIMIT": "512MB"}

    def test_dense_bodies(self):
        for body in (b'{"title":"a","tags":[' + b'"x",' * 90_000 + b'"x"]}', b'{"title":"' + b"a" * 390_000 + b'"}'):
            statuses, _ = self.flood(self.request("/stories", body, self.ann.token))
            self.assertLessEqual(set(statuses), {201, 400, 413, 503})
        self.assertLess(self.app.peak_bytes(), 640 * MB)

    def test_dense_imports(self):
        nodes = zipped(b'{"title":"a","nodes":[{}', b",{}", b"]}", 16 * MB)
        texts = gzip.compress(b'{"title":"a","nodes":[' + b",".join(b'{"name":"%d","text":"%s"}' % (i, b"x" * 300_000) for i in range(50)) + b"]}")
        for body in (nodes, texts):
            statuses, _ = self.flood(self.request("/stories/import", body, self.ann.token, Content_Encoding="gzip"))
            self.assertLessEqual(set(statuses), {201, 400, 409, 413, 503})
        self.assertLess(self.app.peak_bytes(), 640 * MB)


    def test_exports_of_a_large_story_take_turns(self):
        imported = self.expect(self.ann("POST", "/stories/import", gzip.compress(large_story(), 9), Content_Encoding="gzip"), 201)
        statuses, _ = self.flood(announced("GET", f"{self.prefix}/stories/{imported.json['id']}/export", self.ann.token, 0))
        self.assertLessEqual(set(statuses), {200, 503})
        self.assertGreater(statuses.count(200), 2, "all of them took so much that none could be answered")
        self.assertLess(self.app.peak_bytes(), 640 * MB)


class Csv(Flooded):
    model = "media-library"
    prefix = "/systems/media-library/v1"
    list = "/libraries"

    def library(self):
        return f"/libraries/{self.ann('POST', '/libraries', {'LibraryName': 'Home'}).json['LibraryId']}"

    def test_a_file_is_read_row_by_row(self):
        path = f"{self.library()}/import"
        for repeated, status in ((b"\n", 400), (b"\r\n", 400), (b"x\n", 400), (b'"', 200), (b"x,", 200)):
            with self.subTest(repeated=repeated):
                bomb = zipped(b"Title\n", repeated, b"\n", 16 * MB)
                request = self.request(path, bomb, self.ann.token, Content_Encoding="gzip", Content_Type="text/csv")
                statuses, grown = self.flood(request, 4)
                # One import at a time works on a library.
                self.assertLessEqual(set(statuses), {status, 409})
                self.assertIn(status, statuses)
                self.assertLess(grown, 50 * MB)

    def test_a_hundred_wrong_lines_are_told_and_how_many_more(self):
        body = "Title,Duration\n" + ",x\n" * 500
        answer = self.expect(self.ann("POST", f"{self.library()}/import", body, Content_Type="text/csv"), 200)
        self.assertEqual((len(answer.json["errors"]), answer.json["moreErrors"], answer.json["rows"]), (100, 400, 500))

    def test_a_file_that_cannot_be_read_to_its_end_adds_nothing(self):
        library = self.library()
        body = gzip.compress(b"Title\nDune\n" + b"\n" * (16 * MB) + b"Stalker\n")
        large = self.expect(self.ann("POST", f"{library}/import", body, Content_Type="text/csv", Content_Encoding="gzip"), 413, "BodyTooLarge")
        self.assertIn("the setting max_body_bytes", large.json["message"])
        cut = gzip.compress(b"Title\nDune\n" * 100)[:-10]
        self.expect(self.ann("POST", f"{library}/import", cut, Content_Type="text/csv", Content_Encoding="gzip"), 400, "InvalidEncoding")
        self.expect(self.ann("POST", f"{library}/import", b"Title\nDune\n\xff\n", Content_Type="text/csv"), 400, "InvalidText")
        self.assertEqual(self.ann.items("/items"), [])


class Urls(Flooded):
    model = "shops"
    prefix = "/systems/shops/v1"
    list = "/shops?country=US"
    variables = {"STATOR_MEMORY_LIMIT": "256MB"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bot = cls.user("crawler-1", "crawler")
        cls.bot("PUT", "/shops/example.com", {"shop_country": "US"})

    def test_a_batch_is_read_entry_by_entry(self):
        for entry in (b"0", b"{}", b'"x"', b'"https://example.com/a"', b'{"url":"https://example.com/a","hash":[[]]}'):
            with self.subTest(entry=entry):
                bomb = zipped(b'{"urls":[' + entry, b"," + entry, b"]}", 4 * MB)
                request = self.request("/shops/example.com/urls", bomb, self.bot.token, Content_Encoding="gzip")
                statuses, grown = self.flood(request, 4)
                self.assert_all(statuses, 200)
                self.assertLess(grown, 100 * MB)
        report = answer_to(self.app, request)[1]
        self.assertLess(len(report), 30_000)
        self.assertGreater(rest.json.loads(report)["counts"]["refused"], 50_000)
        self.assertEqual(len(rest.json.loads(report)["refused"]), 100)

    def test_urls_that_come_twice_are_held_within_the_budget(self):
        said = b",".join(b'{"url":"https://example.com/twice/%d","type":"product","hash":"%032d"}' % (n, n) for n in range(60_000))
        body = gzip.compress(b'{"urls":[' + said + b"," + said + b"]}", 1)
        request = self.request("/shops/example.com/urls", body, self.bot.token, Content_Encoding="gzip")
        statuses, _ = self.flood(request, 8)
        self.assertLessEqual(set(statuses), {200, 503})
        self.assertIn(503, statuses)
        self.assertLess(self.app.peak_bytes(), 320 * MB)

    def test_a_batch_without_memory_for_its_rest_tells_how_much_was_taken(self):
        before = self.bot("GET", "/shops/example.com").json["url_count"]
        said = b",".join(b'"https://example.com/%s/%d"' % (b"x" * 3000, n) for n in range(5000))
        request = self.request("/shops/example.com/urls", gzip.compress(b'{"urls":[' + said + b"]}", 1), self.bot.token, Content_Encoding="gzip")
        answers = []
        running = [threading.Thread(target=lambda: answers.append(answer_to(self.app, request))) for _ in range(6)]
        for one in running:
            one.start()
        for one in running:
            one.join()
        self.assertLessEqual({status for status, _ in answers}, {200, 503})
        told = [int(taken[1]) for status, body in answers if status == 503 and (taken := re.search(rb"(\d+) URLs of the batch were taken", body))]
        self.assertTrue(told, [body[:300] for _, body in answers])
        self.assertGreaterEqual(self.bot("GET", "/shops/example.com").json["url_count"], before + max(told))

    def test_a_batch_that_cannot_be_read_to_its_end_writes_nothing(self):
        before = self.bot("GET", "/shops/example.com").json["url_count"]
        for end in (b"]", b']}x', b'],"more":1}', b",]}"):
            body = b'{"urls":[' + b",".join(b'"https://example.com/%d"' % n for n in range(500)) + end
            self.expect(self.bot("POST", "/shops/example.com/urls", body), 400, "Invalid")
        self.assertEqual(self.bot("GET", "/shops/example.com").json["url_count"], before)

    def test_strangers_and_those_without_the_role_are_refused_by_the_head(self):
        path = f"{self.prefix}/shops/example.com/urls"
        self.assertEqual(answer_to(self.app, announced("POST", path))[0], 401)
        self.assertEqual(answer_to(self.app, announced("POST", path, self.ann.token))[0], 403)
