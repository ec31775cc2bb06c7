"""Items: once on a list, counted exactly, ordered by positions with room between them."""

import concurrent.futures
import threading

import waiting
import watch_rest


class Items(watch_rest.WatchRest):

    def count(self, list_id):
        return self.get(self.ann, f"/watchlists/{list_id}")["itemCount"]

    def move(self, list_id, what, headers={}, **where):
        body = {side: {"contentType": "MOVIE", "contentId": anchor} for side, anchor in where.items()}
        return self.ann("POST", f"/watchlists/{list_id}/items/MOVIE/{what}/move", body, **headers)

    def test_an_item_is_added_once(self):
        movie, show = self.movie(releaseYear=1979), self.show(startYear=1990)
        listed = self.list_of(self.ann)
        added = self.add(self.ann, listed, movie, curatorNote="Bring patience.")
        self.assertEqual(added.json["position"], 1000000)
        self.add(self.ann, listed, show, "SHOW")
        self.expect(self.ann("POST", f"/watchlists/{listed}/items", {"contentType": "MOVIE", "contentId": movie}), 409, "Exists")
        self.assertEqual(self.count(listed), 2)
        items = self.get(self.nobody, f"/watchlists/{listed}/items")["items"]
        self.assertEqual([item["contentId"] for item in items], [movie, show])
        self.assertEqual((items[0]["movie"]["releaseYear"], items[1]["show"]["startYear"]), (1979, 1990))

    def test_content_must_exist_and_be_of_its_type(self):
        movie, listed = self.movie(), self.list_of(self.ann)
        for content_type, content in (("MOVIE", "nothing"), ("SHOW", movie)):
            self.expect(self.ann("POST", f"/watchlists/{listed}/items", {"contentType": content_type, "contentId": content}), 400, "NoSuchParent")
        for body in ({"contentType": "BOOK", "contentId": movie}, {"contentType": "MOVIE", "contentId": "a#b"}, {"contentType": "MOVIE"},
                     {"contentType": "MOVIE", "contentId": movie, "curatorNote": "x" * 1001, "listOwner": "x"}):  # fmt: skip
            self.expect(self.ann("POST", f"/watchlists/{listed}/items", body), 400)
        self.assertEqual(self.count(listed), 0)

    def test_what_is_not_there_cannot_be_removed(self):
        movie = self.movie()
        listed = self.list_of(self.ann, movie)
        self.expect(self.ann("DELETE", f"/watchlists/{listed}/items/MOVIE/{movie}"), 204)
        self.expect(self.ann("DELETE", f"/watchlists/{listed}/items/MOVIE/{movie}"), 404)
        self.assertEqual(self.count(listed), 0)

    def test_a_note_is_changed_and_cleared(self):
        movie = self.movie()
        listed = self.list_of(self.ann, movie)
        path = f"/watchlists/{listed}/items/MOVIE/{movie}"
        self.assertEqual(self.expect(self.ann("PATCH", path, {"curatorNote": "Yes"}), 200).json["curatorNote"], "Yes")
        self.assertNotIn("curatorNote", self.expect(self.ann("PATCH", path, {"curatorNote": None}), 200).json)

    def test_a_move_goes_right_before_or_behind_another(self):
        a, b, c, d = (self.movie() for _ in range(4))
        listed = self.list_of(self.ann, a, b, c, d)
        self.expect(self.move(listed, d, before=a), 200)
        self.assertEqual(self.order(self.ann, listed), [d, a, b, c])
        self.expect(self.move(listed, d, after=b), 200)
        self.assertEqual(self.order(self.ann, listed), [a, b, d, c])
        self.expect(self.move(listed, a, after=c), 200)
        self.assertEqual(self.order(self.ann, listed), [b, d, c, a])
        self.expect(self.move(listed, d, before=c), 200)
        self.assertEqual(self.order(self.ann, listed), [b, d, c, a])
        self.assertEqual(self.count(listed), 4)

    def test_an_item_moves_with_its_own_tag(self):
        a, b, c = (self.movie() for _ in range(3))
        listed = self.list_of(self.ann, a, b, c)
        tag = lambda what="": self.ann("GET", f"/watchlists/{listed}{what}").headers["ETag"]
        first, others = tag(f"/items/MOVIE/{c}"), (tag(f"/items/MOVIE/{a}"), tag(f"/items/MOVIE/{b}"))
        self.expect(self.move(listed, c, {"If_Match": tag()}, before=a), 412)
        moved = self.expect(self.move(listed, c, {"If_Match": first}, before=a), 200)
        self.assertNotEqual(moved.headers["ETag"], first)
        self.assertEqual(tag(f"/items/MOVIE/{c}"), moved.headers["ETag"])
        self.expect(self.move(listed, c, {"If_Match": first}, after=b), 412)
        self.assertEqual(self.order(self.ann, listed), [c, a, b])
        self.assertEqual((tag(f"/items/MOVIE/{a}"), tag(f"/items/MOVIE/{b}")), others)

    def test_making_room_breaks_nobodys_edit(self):
        a, b, c = (self.movie() for _ in range(3))
        listed = self.list_of(self.ann)
        for position, movie in enumerate((a, b, c)):
            self.add(self.ann, listed, movie, position=position)
        before = self.ann("GET", f"/watchlists/{listed}/items/MOVIE/{a}")
        self.expect(self.move(listed, c, before=b), 200)
        after = self.ann("GET", f"/watchlists/{listed}/items/MOVIE/{a}")
        self.assertNotEqual(after.json["position"], before.json["position"])
        self.expect(self.ann("PATCH", f"/watchlists/{listed}/items/MOVIE/{a}", {"curatorNote": "Yes"}, If_Match=before.headers["ETag"]), 200)

    def test_a_list_changes_when_its_items_do_and_keeps_its_version(self):
        a, b = self.movie(), self.movie()
        listed = self.list_of(self.ann, a)
        seen = self.ann("GET", f"/watchlists/{listed}")
        item = f"/watchlists/{listed}/items/MOVIE/{b}"
        last = seen.json["updatedAt"]
        for method, path, body in (("POST", f"/watchlists/{listed}/items", {"contentType": "MOVIE", "contentId": b}),
                                   ("PATCH", item, {"curatorNote": "Look!"}),
                                   ("POST", f"{item}/move", {"before": {"contentType": "MOVIE", "contentId": a}}),
                                   ("DELETE", item, None)):  # fmt: skip
            waiting.until_next_millisecond()  # times are no finer
            answer = self.ann(method, path, body)
            self.assertIn(answer.status, (200, 201, 204), answer.body)
            now = self.ann("GET", f"/watchlists/{listed}")
            self.assertGreater(now.json["updatedAt"], last, (method, path))
            last = now.json["updatedAt"]
        self.expect(self.ann("POST", f"/watchlists/{listed}/items", {"contentType": "MOVIE", "contentId": a}), 409)
        self.expect(self.ann("PATCH", f"/watchlists/{listed}/items/MOVIE/{a}", {}), 200)
        self.expect(self.bob("POST", "/me/saved", {"watchlistId": listed}), 201)
        self.assertEqual(self.ann("GET", f"/watchlists/{listed}").json["updatedAt"], last, "nothing of the list changed")
        self.expect(self.ann("PATCH", f"/watchlists/{listed}", {"title": "Still mine"}, If_Match=seen.headers["ETag"]), 200)

    def test_an_item_is_removed_with_its_own_tag(self):
        movie = self.movie()
        listed = self.list_of(self.ann, movie)
        path = f"/watchlists/{listed}/items/MOVIE/{movie}"
        self.expect(self.ann("DELETE", path, If_Match='"7"'), 412)
        self.expect(self.ann("DELETE", path, If_Match=self.ann("GET", path).headers["ETag"]), 204)

    def test_a_move_makes_room_when_there_is_none(self):
        movies = [self.movie() for _ in range(4)]
        listed = self.list_of(self.ann)
        for position, movie in enumerate(movies):
            self.add(self.ann, listed, movie, position=position)
        expected = movies
        for turn in range(30):
            moved, anchor = expected[-1], expected[0 if turn % 2 else 1]
            self.expect(self.move(listed, moved, before=anchor), 200)
            rest = expected[:-1]
            place = rest.index(anchor)
            expected = [*rest[:place], moved, *rest[place:]]
            self.assertEqual(self.order(self.ann, listed), expected)

    def test_an_item_at_the_last_position_leaves_room_for_moves_and_new_ones(self):
        last = 999999999999999
        for crowded in (3, 60):  # spread out in one transaction, and in two
            movies = [self.movie() for _ in range(crowded)]
            listed = self.list_of(self.ann)
            for place, movie in enumerate(movies):
                self.add(self.ann, listed, movie, position=last - crowded + 1 + place)
            added = self.movie()
            self.assertEqual(self.add(self.ann, listed, added).json["position"], (crowded + 1) * 1000000)
            self.assertEqual(self.order(self.ann, listed), [*movies, added])
            self.expect(self.ann("PATCH", f"/watchlists/{listed}/items/MOVIE/{added}", {"position": last}), 200)
            self.expect(self.move(listed, movies[0], after=added), 200)
            self.assertEqual(self.order(self.ann, listed), [*movies[1:], added, movies[0]])

    def test_a_move_stays_while_others_make_room(self):
        movies = [self.movie() for _ in range(8)]
        listed = self.list_of(self.ann)
        for position, movie in enumerate(movies):
            self.add(self.ann, listed, movie, position=position)
        done = threading.Event()

        def crowd(moved, low, high, position):
            while not done.is_set():  # there is no room between two that stand side by side
                for movie, place in ((low, position), (high, position + 1)):
                    self.ann("PATCH", f"/watchlists/{listed}/items/MOVIE/{movie}", {"position": place})
                self.move(listed, moved, before=high)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            crowds = [pool.submit(crowd, *movies[:3], 10), pool.submit(crowd, *movies[3:6], 20)]
            try:
                for turn in range(150):
                    wanted = [movies[6], movies[7]] if turn % 2 else [movies[7], movies[6]]
                    answer = self.move(listed, wanted[1], after=wanted[0])
                    if answer.status != 200:
                        self.expect(answer, 409, "Contention")
                        continue
                    order = [one["contentId"] for one in self.all_pages(self.ann, f"/watchlists/{listed}/items")]
                    self.assertEqual([one for one in order if one in wanted], wanted)
            finally:
                done.set()
            for one in crowds:
                one.result()
        self.assertEqual(len(self.all_pages(self.ann, f"/watchlists/{listed}/items")), 8)

    def test_bad_moves_are_refused(self):
        a, b = self.movie(), self.movie()
        listed = self.list_of(self.ann, a, b)
        self.expect(self.move(listed, a), 400)
        self.expect(self.move(listed, a, before=b, after=b), 400)
        self.expect(self.move(listed, a, before=a), 400)
        self.assertEqual(set(self.expect(self.move(listed, a, before="nothing"), 400).problems()), {"before"})
        self.expect(self.move(listed, "nothing", before=a), 404)
        self.expect(self.ann("POST", f"/watchlists/{listed}/items/MOVIE/{a}/move", {"before": {"contentId": b}}), 400)
        body = {"before": {"contentType": "MOVIE", "contentId": b}}
        self.expect(self.bob("POST", f"/watchlists/{listed}/items/MOVIE/{a}/move", body), 403)

    def test_counts_are_exact_when_sixteen_add_and_remove(self):
        movies = [self.movie() for _ in range(16)]
        listed = self.list_of(self.ann)

        def work(movie):
            statuses = []
            for _ in range(3):
                statuses.append(self.ann("POST", f"/watchlists/{listed}/items", {"contentType": "MOVIE", "contentId": movie}).status)
                statuses.append(self.ann("DELETE", f"/watchlists/{listed}/items/MOVIE/{movie}").status)
            statuses.append(self.ann("POST", f"/watchlists/{listed}/items", {"contentType": "MOVIE", "contentId": movie}).status)
            return [status for status in statuses if status not in (201, 204)]

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            lost = sum(pool.map(work, movies), [])
        self.assertEqual([status for status in lost if status not in (404, 409)], [])
        self.assertEqual(self.count(listed), len(self.order(self.ann, listed)))
