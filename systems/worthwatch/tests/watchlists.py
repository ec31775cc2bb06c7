"""Watchlists: public ones are discovered by date, private ones are nobody else's, and anyone may clone what they can see."""

import waiting
import watch_rest


class Watchlists(watch_rest.WatchRest):
    def test_a_list_is_created_changed_and_deleted(self):
        made = self.expect(self.ann("POST", "/watchlists", {"title": "Slow films", "tags": ["slow"]}), 201)
        path = f"/watchlists/{made.json['watchlistId']}"
        self.assertEqual(made.headers["Location"], self.prefix + path)
        self.assertEqual((made.json["itemCount"], made.json["isPublic"], made.json["curatorName"]), (0, False, self.username(self.ids[self.ann])))
        changed = self.expect(self.ann("PATCH", path, {"title": "Slower films", "tags": None}, If_Match=made.headers["ETag"]), 200).json
        self.assertEqual(changed["title"], "Slower films")
        self.assertNotIn("tags", changed)
        self.expect(self.ann("PATCH", path, {"title": "x"}, If_Match=made.headers["ETag"]), 412)
        self.expect(self.ann("DELETE", path), 204)
        self.expect(self.ann("GET", path), 404)

    def test_limits_are_told_all_at_once(self):
        for body, wrong in (({"title": "", "description": "x" * 501, "tags": ["x" * 51], "itemCount": 3}, {"title", "description", "tags[0]", "itemCount"}),
                            ({"title": "é" * 101, "isPublicStr": "true"}, {"title", "isPublicStr"}),
                            ({"title": "x", "curatorId": "somebody"}, {"curatorId"}), ({}, {"title"})):  # fmt: skip
            self.assertEqual(set(self.expect(self.ann("POST", "/watchlists", body), 400).problems()), wrong)
        self.expect(self.ann("POST", "/watchlists", {"title": "é" * 100, "description": "é" * 500, "tags": ["é" * 50]}), 201)

    def test_names_can_be_seen(self):
        self.expect_visible(lambda body: self.ann("POST", "/watchlists", body), {"title": "x"}, ("title",), ("description",))
        list_id = self.list_of(self.ann, self.movie())
        self.expect_visible(lambda body: self.ann("POST", f"/watchlists/{list_id}/clone", body), {}, ("title",))
        self.expect_visible(lambda body: self.ann("POST", f"/watchlists/{list_id}/comments", body), {}, (), ("text",))
        self.assertEqual(set(self.expect(self.ann("POST", "/watchlists", {"title": "x", "tags": ["x", " ", "a\0"]}), 400).problems()), {"tags[1]", "tags[2]"})
        path = f"/users/{self.ids[self.ann]}"
        self.expect_visible(lambda body: self.ann("PATCH", path, body), {}, ("username", "displayName"), ("bio",))
        numbers = iter(range(1000))
        self.expect_visible(lambda body: self.admin("POST", "/movies", {"movieId": f"{list_id}-{next(numbers)}", **body}), {"title": "x"}, ("title",), ("synopsis",))

    def test_a_private_list_is_not_there_for_others(self):
        movie = self.movie()
        private = self.list_of(self.ann, movie, isPublic=False)
        other = self.movie()
        for other_caller in (self.bob, self.nobody):
            for path in ("", "/items", f"/items/MOVIE/{movie}", "/comments"):
                self.expect(other_caller("GET", f"/watchlists/{private}{path}"), 404)
        for method, path, body in (
            ("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/items", {"contentType": "MOVIE", "contentId": other}),
            ("PATCH", f"/items/MOVIE/{movie}", {"curatorNote": "x"}), ("DELETE", f"/items/MOVIE/{movie}", None), ("POST", "/clone", {}),
            ("POST", f"/items/MOVIE/{movie}/move", {"before": {"contentType": "MOVIE", "contentId": other}}), ("POST", "/comments", {"text": "x"}),
        ):  # fmt: skip
            self.expect(self.bob(method, f"/watchlists/{private}{path}", body), 404)
        self.expect(self.bob("POST", "/me/saved", {"watchlistId": private}), 400, "NoSuchParent")
        self.expect(self.bob("POST", "/me/followed", {"watchlistId": private}), 404)
        self.assertEqual(self.get(self.bob, f"/users/{self.ids[self.ann]}/watchlists")["items"], [])

    def test_a_public_list_may_be_read_by_all_and_changed_by_its_owner(self):
        movie = self.movie()
        public = self.list_of(self.ann, movie)
        for path in ("", "/items", f"/items/MOVIE/{movie}", "/comments"):
            self.get(self.nobody, f"/watchlists/{public}{path}")
        for method, path, body in (("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/items", {"contentType": "MOVIE", "contentId": self.movie()}),
                                   ("PATCH", f"/items/MOVIE/{movie}", {"curatorNote": "x"}), ("DELETE", f"/items/MOVIE/{movie}", None)):  # fmt: skip
            self.expect(self.bob(method, f"/watchlists/{public}{path}", body), 403)

    def later_list_of(self, caller, **attributes):
        """One of another millisecond than those before, which is as fine as the order of lists goes."""
        waiting.until_next_millisecond()
        return self.list_of(caller, **attributes)

    def test_a_curators_lists_are_newest_first(self):
        public = [self.later_list_of(self.ann, title=f"P{i}") for i in range(3)]
        private = self.later_list_of(self.ann, isPublic=False)
        ids = lambda caller, path: [one["watchlistId"] for one in self.all_pages(caller, path, limit=2)]
        self.assertEqual(ids(self.ann, "/me/watchlists"), [private, *reversed(public)])
        self.assertEqual(ids(self.nobody, f"/users/{self.ids[self.ann]}/watchlists"), public[::-1])

    def test_public_lists_are_discovered_newest_first(self):
        made = [self.later_list_of(self.ann if i % 2 else self.bob, title=f"L{i}") for i in range(12)]
        hidden = self.list_of(self.ann, isPublic=False)
        feed = [one["watchlistId"] for one in self.all_pages(self.nobody, "/watchlists", limit=5)]
        self.assertEqual([one for one in feed if one in made], made[::-1])
        self.assertNotIn(hidden, feed)
        self.expect(self.ann("PATCH", f"/watchlists/{hidden}", {"isPublic": True}), 200)
        self.expect(self.bob("PATCH", f"/watchlists/{made[0]}", {"isPublic": False}), 200)
        feed = [one["watchlistId"] for one in self.all_pages(self.nobody, "/watchlists", limit=7)]
        self.assertIn(hidden, feed)
        self.assertNotIn(made[0], feed)

    def test_a_suspended_curators_lists_leave_discovery(self):
        listed = self.list_of(self.ann)
        me = self.ids[self.ann]
        self.expect(self.ann("POST", "/me/curator/apply"), 200)
        self.expect(self.admin("POST", f"/users/{me}/curator/approve"), 200)
        in_feed = lambda: any(one["watchlistId"] == listed for one in self.all_pages(self.nobody, "/watchlists"))
        self.wait_until(in_feed)
        self.expect(self.admin("POST", f"/users/{me}/curator/suspend"), 200)
        self.wait_until(lambda: not in_feed())
        self.wait_until(lambda: self.get(self.bob, f"/users/{me}/watchlists")["items"] == [])
        self.assertEqual(len(self.get(self.ann, "/me/watchlists")["items"]), 1)
        self.expect(self.admin("POST", f"/users/{me}/curator/approve"), 200)
        self.wait_until(in_feed)

    def test_lists_of_somebody_who_is_no_curator_can_be_taken_out_of_discovery(self):
        listed, me = self.list_of(self.ann), self.ids[self.ann]
        public = lambda: [one["watchlistId"] for one in self.all_pages(self.nobody, "/watchlists")]
        self.assertIn(listed, public())
        self.expect(self.admin("POST", f"/users/{me}/curator/suspend"), 200)
        self.wait_until(lambda: listed not in public())
        self.assertEqual(self.get(self.nobody, f"/users/{me}/watchlists")["items"], [])

    def test_a_renamed_curator_is_renamed_on_their_lists(self):
        listed = self.list_of(self.ann)
        self.expect(self.ann("PATCH", f"/users/{self.ids[self.ann]}", {"username": f"New {self.name}"[:50]}), 200)
        self.wait_until(lambda: self.get(self.nobody, f"/watchlists/{listed}")["curatorName"] == f"New {self.name}"[:50])

    def test_a_clone_has_the_items_in_order_and_belongs_to_the_caller(self):
        movies = [self.movie() for _ in range(3)]
        original = self.list_of(self.ann, *movies, title="Original", tags=["x"], description="D")
        self.expect(self.ann("PATCH", f"/watchlists/{original}/items/MOVIE/{movies[1]}", {"curatorNote": "Look!"}), 200)
        answer = self.expect(self.bob("POST", f"/watchlists/{original}/clone", {}), 201)
        copy = answer.json
        self.assertEqual(answer.headers["Location"], f"{self.prefix}/watchlists/{copy['watchlistId']}")
        self.assertEqual((copy["title"], copy["tags"], copy["description"], copy["isPublic"]), ("Original", ["x"], "D", False))
        self.assertEqual((copy["itemCount"], copy["curatorId"], copy["clonedFrom"], copy["saves"]), (3, self.ids[self.bob], original, 0))
        self.assertEqual(self.order(self.bob, copy["watchlistId"]), movies)
        self.assertEqual(self.get(self.bob, f"/watchlists/{copy['watchlistId']}/items/MOVIE/{movies[1]}")["curatorNote"], "Look!")
        self.expect(self.ann("GET", f"/watchlists/{copy['watchlistId']}"), 404)
        self.assertEqual(self.get(self.nobody, f"/movies/{movies[0]}")["listed"], 2)
        named = self.expect(self.bob("POST", f"/watchlists/{original}/clone", {"title": "Mine", "isPublic": True}), 201).json
        self.assertEqual((named["title"], named["isPublic"]), ("Mine", True))
        self.expect(self.bob("POST", f"/watchlists/{original}/clone", {"title": ""}), 400)
        self.expect(self.nobody("POST", f"/watchlists/{original}/clone", {}), 401)
        self.assertIn(self.user(f"eve-{self.name}")("POST", f"/watchlists/{original}/clone", {}).status, (404, 409))

    def test_a_long_list_is_cloned_whole(self):
        movies = [self.movie() for _ in range(101)]
        original = self.list_of(self.ann, *movies)
        copy = self.expect(self.bob("POST", f"/watchlists/{original}/clone", {"isPublic": True}), 201).json
        self.assertEqual((copy["itemCount"], copy["isPublic"]), (101, True))
        self.assertEqual(self.order(self.nobody, copy["watchlistId"]), movies)
