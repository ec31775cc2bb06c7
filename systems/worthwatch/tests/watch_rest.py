"""What the tests of this system have in common: registered users, titles, and lists."""

import hashlib
import uuid

import rest


class WatchRest(rest.Rest):
    model = "worthwatch"
    prefix = "/systems/worthwatch/v1"

    def setUp(self):
        super().setUp()
        self.ids = {self.ann: f"ann-{self.name}", self.bob: f"bob-{self.name}"}
        for caller, subject in self.ids.items():
            self.expect(self.register(caller, subject), 201)

    def register(self, caller, subject, **more):
        return caller("POST", "/users", {"email": self.email(subject), "username": self.username(subject), **more})

    @staticmethod
    def email(subject):
        return f"{hashlib.md5(subject.encode()).hexdigest()[:20]}@example.org"

    @staticmethod
    def username(subject):
        return f"{subject[:20]} {hashlib.md5(subject.encode()).hexdigest()[:20]}"

    def movie(self, **more):
        movie_id = more.pop("movieId", None) or "m" + uuid.uuid4().hex[:12]
        self.expect(self.admin("POST", "/movies", {"movieId": movie_id, "title": f"Movie {movie_id}", **more}), 201)
        return movie_id

    def show(self, **more):
        show_id = "s" + uuid.uuid4().hex[:12]
        self.expect(self.admin("POST", "/shows", {"showId": show_id, "title": f"Show {show_id}", **more}), 201)
        return show_id

    def list_of(self, caller, *movies, **more):
        """A new list with these movies on it; its id."""
        body = {"title": "A list", "isPublic": True, **more}
        list_id = self.expect(caller("POST", "/watchlists", body), 201).json["watchlistId"]
        for movie in movies:
            self.add(caller, list_id, movie)
        return list_id

    def add(self, caller, list_id, content_id, content_type="MOVIE", **more):
        return self.expect(caller("POST", f"/watchlists/{list_id}/items", {"contentType": content_type, "contentId": content_id, **more}), 201)

    def get(self, caller, path):
        return self.expect(caller("GET", path), 200).json

    def order(self, caller, list_id):
        return [item["contentId"] for item in self.all_pages(caller, f"/watchlists/{list_id}/items")]

    def all_pages(self, caller, path, limit=100):
        return caller.items(f"{path}{'&' if '?' in path else '?'}limit={limit}")
