"""Users: registered once, found by e-mail whatever its case, seen by others without it; curators apply and are approved."""

import concurrent.futures

import watch_rest


class Users(watch_rest.WatchRest):
    def test_a_user_sees_everything_and_others_see_the_public_part(self):
        me = self.ids[self.ann]
        self.expect(self.ann("PATCH", f"/users/{me}", {"displayName": "Ann", "bio": "I watch."}), 200)
        self.assertEqual(self.get(self.ann, "/me")["email"], self.email(me))
        for other in (self.bob, self.nobody):
            seen = self.get(other, f"/users/{me}")
            self.assertEqual((seen["username"], seen["displayName"], seen["isCurator"]), (self.username(me), "Ann", False))
            self.assertNotIn("email", seen)
            self.assertNotIn("curatorStatus", seen)

    def test_a_user_is_found_by_email_whatever_its_case(self):
        email = self.email(self.ids[self.ann])
        for spelling in (email, email.upper()):
            self.assertEqual(self.get(self.admin, f"/users?email={spelling}")["userId"], self.ids[self.ann])
        self.assertEqual(self.get(self.ann, f"/users?email={email}")["userId"], self.ids[self.ann])
        self.expect(self.bob("GET", f"/users?email={email}"), 404)
        self.expect(self.nobody("GET", f"/users?email={email}"), 401)
        self.expect(self.admin("GET", "/users?email=nobody@example.org"), 404)
        self.expect(self.admin("GET", "/users?email=x"), 400)

    def test_email_and_username_are_unique_without_regard_to_case(self):
        eve = self.user(f"eve-{self.name}")
        taken = {"email": self.email(self.ids[self.ann]).upper(), "username": self.username(self.ids[self.bob]).upper()}
        answer = self.expect(eve("POST", "/users", taken), 409)
        self.assertEqual(set(answer.problems()), {"email", "username"})
        self.expect(self.register(eve, f"eve-{self.name}"), 201)
        self.expect(self.register(eve, f"eve-{self.name}"), 409)
        self.expect(eve("PATCH", f"/users/eve-{self.name}", {"email": taken["email"]}), 409)

    def test_an_accent_makes_another_email(self):
        for who, email in (("jose", "jose"), ("josé", "josé")):
            body = {"email": f"{email}-{self.name}@example.org", "username": f"{who.encode().hex()}-{self.name}"[:50]}
            self.expect(self.user(f"{who.encode().hex()}-{self.name}")("POST", "/users", body), 201)

    def test_a_changed_email_frees_the_old_one(self):
        old = self.email(self.ids[self.ann])
        self.expect(self.ann("PATCH", f"/users/{self.ids[self.ann]}", {"email": f"new-{old}"}), 200)
        self.expect(self.admin("GET", f"/users?email={old}"), 404)
        self.expect(self.bob("PATCH", f"/users/{self.ids[self.bob]}", {"email": old}), 200)

    def test_of_sixteen_who_want_a_name_one_gets_it(self):
        people = [self.user(f"p{i}-{self.name}") for i in range(16)]
        register = lambda pair: pair[1]("POST", "/users", {"email": self.email(f"p{pair[0]}-{self.name}"), "username": f"One-{self.name}"[:50]}).status
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = sorted(pool.map(register, enumerate(people)))
        self.assertEqual(statuses, [201] + [409] * 15)

    def test_nobody_changes_or_deletes_another(self):
        me = self.ids[self.ann]
        for method, body in (("PATCH", {"bio": "x"}), ("DELETE", None)):
            self.expect(self.bob(method, f"/users/{me}", body), 404)
            self.expect(self.nobody(method, f"/users/{me}", body), 401)
        eve = self.user(f"eve-{self.name}")
        self.expect(eve("POST", "/users", {"userId": "SOMEBODY", "email": "x@example.org", "username": "x"}), 400)
        self.expect(eve("POST", "/users", {"email": "x@example.org", "username": "x", "curatorStatus": "APPROVED"}), 400)

    def test_a_username_has_nothing_that_cannot_be_seen(self):
        eve = self.user(f"eve-{self.name}")
        for wrong in (" ", "\u200b", "admin ", " admin", "admin\u200b", "ad\u200bmin", "ad\u2028min", "ad\x00min", "ad\tmin", "admin\n", "\u00a0admin", "\u202eadmin"):
            with self.subTest(repr(wrong)):
                answer = eve("POST", "/users", {"email": self.email(f"eve-{self.name}"), "username": wrong})
                self.assertEqual(set(self.expect(answer, 400, "Invalid").problems()), {"username"})
                self.expect(self.ann("PATCH", f"/users/{self.ids[self.ann]}", {"username": wrong}), 400)
        for right in ("x", "Ann  B. Müller", "李 小龙", "नमस्ते", "🦊"):
            with self.subTest(right):
                self.expect(self.ann("PATCH", f"/users/{self.ids[self.ann]}", {"username": right}), 200)

    def test_bad_values_are_told_all_at_once(self):
        answer = self.user(f"eve-{self.name}")("POST", "/users", {"email": "x", "username": "", "bio": "é" * 1001, "isCurator": True})
        self.assertEqual(set(self.expect(answer, 400, "Invalid").problems()), {"email", "username", "bio", "isCurator"})

    def test_becoming_a_curator(self):
        me = self.ids[self.ann]
        self.expect(self.admin("POST", f"/users/{me}/curator/approve"), 409, "NotPending")
        self.assertEqual(self.expect(self.ann("POST", "/me/curator/apply"), 200).json["curatorStatus"], "PENDING")
        self.expect(self.ann("POST", "/me/curator/apply"), 409, "AlreadyAsked")
        self.expect(self.bob("POST", f"/users/{me}/curator/approve"), 403)
        approved = self.expect(self.admin("POST", f"/users/{me}/curator/approve"), 200).json
        self.assertEqual((approved["curatorStatus"], approved["isCurator"]), ("APPROVED", True))
        self.assertTrue(self.get(self.bob, f"/users/{me}")["isCurator"])
        self.expect(self.admin("POST", f"/users/{me}/curator/suspend"), 200)
        self.expect(self.admin("POST", f"/users/{me}/curator/suspend"), 409, "AlreadySuspended")
        self.assertFalse(self.get(self.bob, f"/users/{me}")["isCurator"])
        self.expect(self.user(f"eve-{self.name}")("POST", "/me/curator/apply"), 404)

    def status(self, who):
        return self.get(who, "/me")["curatorStatus"]

    def test_who_is_suspended_cannot_get_out_of_it_by_registering_again(self):
        me = self.ids[self.ann]
        self.expect(self.admin("POST", f"/users/{me}/curator/suspend"), 200)
        self.expect(self.ann("DELETE", f"/users/{me}"), 204)
        self.assertEqual(self.expect(self.register(self.ann, me), 201).json["curatorStatus"], "SUSPENDED")
        self.expect(self.ann("POST", "/me/curator/apply"), 409, "AlreadyAsked")
        hidden = self.list_of(self.ann)
        self.assertNotIn(hidden, [one["watchlistId"] for one in self.all_pages(self.nobody, "/watchlists")])
        self.expect(self.admin("POST", f"/users/{me}/curator/reinstate"), 200)
        self.wait_until(lambda: hidden in [one["watchlistId"] for one in self.all_pages(self.nobody, "/watchlists")])
        self.expect(self.ann("DELETE", f"/users/{me}"), 204)
        self.wait_until(lambda: self.register(self.ann, me).status == 201)
        self.assertEqual(self.status(self.ann), "NONE")

    def test_who_is_reinstated_is_what_they_were_before(self):
        for who, before in ((self.ann, "APPROVED"), (self.bob, "NONE")):
            if before == "APPROVED":
                self.expect(who("POST", "/me/curator/apply"), 200)
                self.expect(self.admin("POST", f"/users/{self.ids[who]}/curator/approve"), 200)
            self.expect(self.admin("POST", f"/users/{self.ids[who]}/curator/reinstate"), 409, "NotSuspended")
            self.expect(self.admin("POST", f"/users/{self.ids[who]}/curator/suspend"), 200)
            self.expect(who("POST", f"/users/{self.ids[who]}/curator/reinstate"), 403)
            self.expect(self.admin("POST", f"/users/{self.ids[who]}/curator/reinstate"), 200)
            self.assertEqual(self.status(who), before)

    def test_an_extended_profile_is_private_until_it_is_public(self):
        theirs = f"/users/{self.ids[self.ann]}/profile"
        created = self.expect(self.ann("PUT", "/me/profile", {"location": "Berlin", "birthday": "1990-05-17", "favoriteGenres": ["noir"]}), 201).json
        self.assertEqual((created["location"], created["isPublic"]), ("Berlin", False))
        self.assertEqual(self.get(self.ann, theirs), created)
        self.expect(self.bob("GET", theirs), 404)
        self.expect(self.bob("GET", "/me/profile"), 404)
        self.expect(self.ann("PUT", "/me/profile", {"isPublic": True}), 200)
        self.assertEqual(self.get(self.bob, theirs)["location"], "Berlin")
        self.expect(self.bob("PATCH", theirs, {"location": "x"}), 405)
        self.expect(self.ann("PUT", "/me/profile", {"birthday": "1990-02-30"}), 400)
        self.expect(self.ann("DELETE", "/me/profile"), 204)
        self.expect(self.bob("GET", theirs), 404)

    def test_deleting_a_user_takes_all_that_was_theirs(self):
        movie = self.movie()
        mine, theirs = self.list_of(self.ann, movie), self.list_of(self.bob)
        self.expect(self.ann("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": 8}), 201)
        self.expect(self.ann("POST", f"/watchlists/{theirs}/comments", {"text": "Hm."}), 201)
        self.expect(self.ann("POST", "/me/saved", {"watchlistId": theirs}), 201)
        self.expect(self.ann("DELETE", f"/users/{self.ids[self.ann]}"), 204)
        self.wait_until(lambda: self.bob("GET", f"/watchlists/{mine}").status == 404)
        self.wait_until(lambda: self.get(self.bob, f"/watchlists/{theirs}/comments")["items"] == [])
        self.wait_until(lambda: {name: self.get(self.nobody, f"/movies/{movie}")[name] for name in ("listed", "ratingCount")} == {"listed": 0, "ratingCount": 0})
        self.wait_until(lambda: {name: self.get(self.bob, f"/watchlists/{theirs}")[name] for name in ("saves", "comments")} == {"saves": 0, "comments": 0})
        self.expect(self.nobody("GET", f"/users/{self.ids[self.ann]}"), 404)
        self.expect(self.register(self.ann, self.ids[self.ann]), 201)
