"""Movies and shows: kept by admins, listed newest first, found by the ids that others gave them."""

import uuid

import waiting
import watch_rest


class Content(watch_rest.WatchRest):
    def test_admins_keep_movies_and_everyone_reads_them(self):
        movie = self.movie(title="Stalker", releaseYear=1979, genres=["drama"], directors=["Andrei Tarkovsky"], cast=["A"], synopsis="S", runtime=162)
        self.assertEqual(self.get(self.nobody, f"/movies/{movie}")["runtime"], 162)
        self.assertEqual(self.expect(self.admin("PATCH", f"/movies/{movie}", {"runtime": 161}), 200).json["runtime"], 161)
        for method, path, body in (("POST", "/movies", {"movieId": "x", "title": "x"}), ("PATCH", f"/movies/{movie}", {"runtime": 1}), ("DELETE", f"/movies/{movie}", None)):
            self.expect(self.ann(method, path, body), 403)
            self.expect(self.nobody(method, path, body), 401)
        self.expect(self.admin("POST", "/movies", {"movieId": movie, "title": "Again"}), 409, "Exists")
        self.expect(self.admin("DELETE", f"/movies/{movie}"), 204)
        self.expect(self.nobody("GET", f"/movies/{movie}"), 404)

    def test_admins_keep_shows(self):
        show = self.show(startYear=1990, endYear=1991, creators=["David Lynch"], numberOfSeasons=2, status="ended")
        self.assertEqual(self.get(self.nobody, f"/shows/{show}")["numberOfSeasons"], 2)
        self.expect(self.nobody("GET", f"/movies/{show}"), 404)
        self.expect(self.ann("DELETE", f"/shows/{show}"), 403)
        self.expect(self.admin("DELETE", f"/shows/{show}"), 204)

    def test_bad_values_are_told_all_at_once(self):
        body = {"movieId": "a b", "title": "", "releaseYear": 1500, "runtime": -1, "averageRating": 10, "listed": 3}
        self.assertEqual(set(self.expect(self.admin("POST", "/movies", body), 400).problems()), set(body))

    def test_lists_are_newest_first_and_hold_all_that_is_shown(self):
        movies = []
        for i in range(5):
            movies.append(self.movie(releaseYear=1980 + i))
            waiting.until_next_millisecond()  # the index sorts no finer
        found = [movie for movie in self.all_pages(self.nobody, "/movies", limit=2) if movie["movieId"] in movies]
        self.assertEqual([movie["movieId"] for movie in found], movies[::-1])
        self.assertEqual(found[0]["releaseYear"], 1984)
        show = self.show()
        self.assertEqual(self.get(self.nobody, "/shows?limit=1")["items"][0]["showId"], show)

    def test_content_is_found_by_foreign_ids(self):
        tmdb, imdb = str(uuid.uuid4().int)[:12], "tt" + str(uuid.uuid4().int)[:10]
        movie = self.movie(tmdbId=tmdb, imdbId=imdb)
        show = self.show(tmdbId=tmdb)
        found = lambda query: {item.get("movieId") or item.get("showId") for item in self.get(self.nobody, f"/content?{query}")["items"]}
        self.assertEqual(found(f"tmdbId={tmdb}"), {movie, show})
        self.assertEqual(found(f"imdbId={imdb}"), {movie})
        self.assertEqual(found("imdbId=tt0"), set())
        self.expect(self.admin("POST", "/movies", {"movieId": "again" + tmdb, "title": "x", "imdbId": imdb}), 409)
        self.expect(self.admin("PATCH", f"/movies/{movie}", {"imdbId": None}), 200)
        self.assertEqual(found(f"imdbId={imdb}"), set())

    def test_what_a_list_uses_stays(self):
        movie = self.movie()
        listed = self.list_of(self.ann, movie)
        self.expect(self.admin("DELETE", f"/movies/{movie}"), 409)
        self.expect(self.ann("DELETE", f"/watchlists/{listed}/items/MOVIE/{movie}"), 204)
        self.expect(self.ann("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": 5}), 201)
        self.expect(self.admin("DELETE", f"/movies/{movie}"), 204)
        self.wait_until(lambda: self.get(self.ann, "/me/ratings")["items"] == [])
