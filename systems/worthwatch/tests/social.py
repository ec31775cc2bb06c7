"""What people do with lists and titles: save, follow, rate, comment."""

import concurrent.futures

import waiting
import watch_rest


class Social(watch_rest.WatchRest):

    def test_lists_are_saved_and_followed(self):
        listed = self.list_of(self.ann, title="Worth it")
        for relation, count in (("saved", "saves"), ("followed", "followers")):
            self.expect(self.bob("POST", f"/me/{relation}", {"watchlistId": listed}), 201)
            self.expect(self.bob("POST", f"/me/{relation}", {"watchlistId": listed}), 409, "Exists")
            self.assertEqual(self.get(self.nobody, f"/watchlists/{listed}")[count], 1)
            kept = self.get(self.bob, f"/me/{relation}")["items"]
            self.assertEqual([(one["watchlistId"], one["watchlist"]["title"]) for one in kept], [(listed, "Worth it")])
            self.assertEqual(self.get(self.ann, f"/me/{relation}")["items"], [])
            self.expect(self.ann("DELETE", f"/me/{relation}/{listed}"), 404)
            self.expect(self.bob("DELETE", f"/me/{relation}/{listed}"), 204)
            self.expect(self.bob("DELETE", f"/me/{relation}/{listed}"), 404)
            self.assertEqual(self.get(self.nobody, f"/watchlists/{listed}")[count], 0)

    def test_what_became_private_shows_nothing_to_those_who_saved_it(self):
        listed = self.list_of(self.ann, title="Secret")
        self.expect(self.bob("POST", "/me/saved", {"watchlistId": listed}), 201)
        self.expect(self.ann("PATCH", f"/watchlists/{listed}", {"isPublic": False, "title": "More secret"}), 200)
        self.assertNotIn("secret", str(self.get(self.bob, "/me/saved")).lower())

    def followed(self, caller):
        return [(one["watchlistId"], one["unseen"]) for one in self.all_pages(caller, "/me/followed", limit=2)]

    def change(self, listed):
        waiting.until_next_millisecond()  # times are no finer
        self.add(self.ann, listed, self.movie())

    def test_followed_lists_come_by_their_last_change_and_say_whether_it_was_seen(self):
        first, second, third = (self.list_of(self.ann, title=title) for title in ("First", "Second", "Third"))
        for listed in (first, second, third):
            self.expect(self.bob("POST", "/me/followed", {"watchlistId": listed}), 201)
        self.assertEqual(set(self.followed(self.bob)), {(first, False), (second, False), (third, False)})
        self.change(third)
        self.change(first)
        self.wait_until(lambda: self.followed(self.bob) == [(first, True), (third, True), (second, False)])
        waiting.until_next_millisecond()
        self.expect(self.ann("PATCH", f"/watchlists/{second}", {"title": "Second to none"}), 200)
        self.wait_until(lambda: self.followed(self.bob) == [(second, True), (first, True), (third, True)])
        seen = self.expect(self.bob("POST", f"/me/followed/{first}/seen", {}), 200).json
        self.assertEqual((seen["unseen"], "announcedAt" in seen), (False, False))
        self.assertEqual(self.followed(self.bob), [(second, True), (first, False), (third, True)], "what was seen keeps its place")
        self.change(first)
        self.wait_until(lambda: self.followed(self.bob) == [(first, True), (second, True), (third, True)])

    def test_what_changed_after_a_user_looked_is_still_unseen(self):
        listed = self.list_of(self.ann)
        self.expect(self.bob("POST", "/me/followed", {"watchlistId": listed}), 201)
        self.change(listed)
        looked = self.get(self.bob, "/me/followed")["items"][0]["watchlist"]["updatedAt"]
        self.change(listed)
        see = lambda body: self.bob("POST", f"/me/followed/{listed}/seen", body)
        self.expect(see({"until": looked}), 200)
        self.wait_until(lambda: see({"until": looked}).json["unseen"] is True)  # once the second change has reached the follower
        latest = self.get(self.bob, "/me/followed")["items"][0]["watchlist"]["updatedAt"]
        self.wait_until(lambda: see({"until": latest}).json["unseen"] is False)
        self.assertEqual(self.expect(see({"until": looked}), 200).json["seenAt"], latest, "what was seen stays seen")
        self.assertEqual(set(self.expect(see({"until": "2999-01-01T00:00:00Z"}), 400, "Invalid").problems()), {"until"})
        self.expect(self.ann("POST", f"/me/followed/{listed}/seen", {}), 404)

    def test_followers_do_not_learn_when_a_private_list_changes(self):
        listed, other = self.list_of(self.ann), self.list_of(self.ann)
        for one in (listed, other):
            self.expect(self.bob("POST", "/me/followed", {"watchlistId": one}), 201)
        self.expect(self.ann("PATCH", f"/watchlists/{listed}", {"isPublic": False}), 200)
        self.change(listed)
        self.change(other)
        self.wait_until(lambda: self.followed(self.bob) == [(other, True), (listed, False)])
        self.assertNotIn("updatedAt", str([one for one in self.get(self.bob, "/me/followed")["items"] if one["watchlistId"] == listed]))
        self.expect(self.ann("PATCH", f"/watchlists/{listed}", {"isPublic": True}), 200)
        self.wait_until(lambda: self.followed(self.bob) == [(listed, True), (other, True)])

    def test_a_change_reaches_all_followers(self):
        listed = self.list_of(self.ann)
        people = [self.user(f"p{i}-{self.name}") for i in range(30)]
        for i, person in enumerate(people):
            self.expect(self.register(person, f"p{i}-{self.name}"), 201)
            self.expect(person("POST", "/me/followed", {"watchlistId": listed}), 201)
        self.change(listed)
        self.wait_until(lambda: all(self.followed(person) == [(listed, True)] for person in people))
        self.assertEqual(self.get(self.nobody, f"/watchlists/{listed}")["followers"], 30)

    def test_reviews_can_be_read_by_everyone(self):
        movie, show = self.movie(), self.show()
        review = lambda caller, kind, content, **body: self.expect(caller("PUT", f"/me/ratings/{kind}/{content}", body), 201).json
        review(self.ann, "MOVIE", movie, rating=9, review="Again!")
        waiting.until_next_millisecond()
        review(self.bob, "MOVIE", movie, rating=2, review="Never again.")
        review(self.bob, "SHOW", show, rating=5, review="")
        eve = self.user(f"eve-{self.name}")
        self.expect(self.register(eve, f"eve-{self.name}"), 201)
        review(eve, "MOVIE", movie, rating=7)
        found = self.all_pages(self.nobody, f"/movies/{movie}/reviews", limit=1)
        self.assertEqual([(one["username"], one["rating"], one["review"]) for one in found],
                         [(self.username(self.ids[self.bob]), 2, "Never again."), (self.username(self.ids[self.ann]), 9, "Again!")])  # fmt: skip
        self.assertEqual(self.get(self.nobody, f"/shows/{show}/reviews")["items"], [], "a rating without words is no review")
        waiting.until_next_millisecond()
        self.expect(self.ann("PATCH", f"/me/ratings/MOVIE/{movie}", {"review": "And again!"}), 200)
        texts = lambda: [one["review"] for one in self.get(self.nobody, f"/movies/{movie}/reviews")["items"]]
        self.assertEqual(texts(), ["And again!", "Never again."])
        self.expect(self.bob("PATCH", f"/me/ratings/MOVIE/{movie}", {"review": None}), 200)
        self.assertEqual(texts(), ["And again!"])
        for missing in ("/movies/nothing/reviews", f"/shows/{movie}/reviews"):
            self.expect(self.nobody("GET", missing), 404)
        self.expect(self.ann("PATCH", f"/users/{self.ids[self.ann]}", {"username": f"New {self.name}"[:50]}), 200)
        self.wait_until(lambda: self.get(self.nobody, f"/movies/{movie}/reviews")["items"][0]["username"] == f"New {self.name}"[:50])

    def test_a_deleted_list_is_gone_from_everywhere(self):
        listed = self.list_of(self.ann, self.movie())
        self.expect(self.bob("POST", "/me/saved", {"watchlistId": listed}), 201)
        self.expect(self.bob("POST", f"/watchlists/{listed}/comments", {"text": "!"}), 201)
        self.expect(self.ann("DELETE", f"/watchlists/{listed}"), 204)
        self.wait_until(lambda: self.get(self.bob, "/me/saved")["items"] == [])
        self.wait_until(lambda: self.get(self.bob, "/me/comments")["items"] == [])

    def test_ratings_have_an_exact_average_and_count(self):
        movie = self.movie()
        rate = lambda caller, rating: caller("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": rating})
        rating = lambda: {name: self.get(self.nobody, f"/movies/{movie}").get(name) for name in ("averageRating", "ratingCount")}
        self.assertEqual(rating(), {"averageRating": None, "ratingCount": 0})
        self.expect(rate(self.ann, 9.5), 201)
        self.expect(rate(self.bob, 10), 201)
        self.assertEqual(rating(), {"averageRating": 9.75, "ratingCount": 2})
        self.expect(rate(self.bob, 0.5), 200)
        self.assertEqual(rating(), {"averageRating": 5, "ratingCount": 2})
        self.assertEqual([one["rating"] for one in self.get(self.bob, "/me/ratings")["items"]], [0.5])
        reviewed = {"rating": 0.5, "review": "Not again."}
        self.expect(self.bob("PUT", f"/me/ratings/MOVIE/{movie}", reviewed), 200)
        self.assertEqual(self.get(self.bob, f"/me/ratings/MOVIE/{movie}")["review"], "Not again.")
        self.expect(self.bob("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": 1, "review": "x" * 4001}), 400)
        self.expect(self.bob("DELETE", f"/me/ratings/MOVIE/{movie}"), 204)
        self.expect(self.bob("GET", f"/me/ratings/MOVIE/{movie}"), 404)
        self.assertEqual(rating(), {"averageRating": 9.5, "ratingCount": 1})

    def test_ratings_go_from_half_to_ten_in_half_steps(self):
        movie = self.movie()
        for rating in (0, 0.4, 10.5, 7.25, "8", None):
            self.expect(self.ann("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": rating}), 400)
        self.assertIn(self.ann("PUT", "/me/ratings/MOVIE/nothing", {"rating": 5}).status, (404, 409))
        self.assertIn(self.ann("PUT", f"/me/ratings/BOOK/{movie}", {"rating": 5}).status, (400, 404))

    def test_ratings_of_sixteen_users_add_up(self):
        movie = self.movie()
        people = [self.user(f"p{i}-{self.name}") for i in range(16)]

        def work(pair):
            self.expect(self.register(pair[1], f"p{pair[0]}-{self.name}"), 201)
            for rating in (1, 2.5, (pair[0] + 1) / 2):
                # Who loses the race for the movie's row too often is told so, and tries again.
                self.wait_until(lambda: pair[1]("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": rating}).status in (200, 201))

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(work, enumerate(people)))
        found = self.get(self.nobody, f"/movies/{movie}")
        self.assertEqual((found["ratingCount"], found["averageRating"]), (16, sum((i + 1) / 2 for i in range(16)) / 16))

    def test_comments_are_newest_first(self):
        listed = self.list_of(self.ann)
        for i in range(5):
            self.expect((self.ann, self.bob)[i % 2]("POST", f"/watchlists/{listed}/comments", {"text": f"c{i}"}), 201)
            waiting.until_next_millisecond()  # in one millisecond, the key sorts by user
        self.assertEqual([one["text"] for one in self.all_pages(self.nobody, f"/watchlists/{listed}/comments", limit=2)], ["c4", "c3", "c2", "c1", "c0"])
        self.assertEqual(self.get(self.nobody, f"/watchlists/{listed}")["comments"], 5)
        self.assertEqual([one["text"] for one in self.get(self.bob, "/me/comments")["items"]], ["c3", "c1"])
        self.assertEqual(self.get(self.nobody, f"/watchlists/{listed}/comments")["items"][0]["username"], self.username(self.ids[self.ann]))
        for body in ({}, {"text": ""}, {"text": "x" * 2001}, {"text": "x", "userId": "other"}):
            self.expect(self.bob("POST", f"/watchlists/{listed}/comments", body), 400)
        self.expect(self.nobody("POST", f"/watchlists/{listed}/comments", {"text": "x"}), 401)

    def test_authors_and_the_lists_owner_delete_comments(self):
        listed, eve = self.list_of(self.ann), self.user(f"eve-{self.name}")
        self.expect(self.register(eve, f"eve-{self.name}"), 201)
        comment = lambda: self.expect(self.bob("POST", f"/watchlists/{listed}/comments", {"text": "!"}), 201).headers["Location"].removeprefix(self.prefix)
        by_author, by_owner = comment(), comment()
        self.get(self.nobody, by_author)
        self.expect(eve("DELETE", by_author), 403)
        self.expect(self.nobody("DELETE", by_author), 401)
        self.expect(self.bob("PATCH", by_author, {"text": "x"}), 405)
        self.expect(self.bob("DELETE", by_author), 204)
        self.expect(self.ann("DELETE", by_owner), 204)
        self.expect(self.ann("DELETE", by_owner), 404)
        self.assertEqual(self.get(self.nobody, f"/watchlists/{listed}")["comments"], 0)
        last = comment()
        self.expect(self.ann("PATCH", f"/watchlists/{listed}", {"isPublic": False}), 200)
        self.expect(eve("DELETE", last), 404)
