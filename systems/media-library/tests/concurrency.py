"""Many at once, and a server that dies in the middle."""

import concurrent.futures
import random
import threading
import unittest

import server as stator
from media import Rest, as_item

CLIENTS = 16


def at_once(work, count=CLIENTS):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def isbn(number):
    digits = f"978{number:09d}"
    return digits + str(-sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits)) % 10)


class AtOnce(Rest):
    def test_one_of_sixteen_lends_it(self):
        item = as_item(self.ann.book(self.ann.library()))
        statuses = at_once(lambda n: self.ann("POST", f"{item}/lend", {"borrower": f"b{n}"}).status)
        self.assertEqual(sorted(statuses), [201] + [409] * 15)
        self.assertEqual(len(self.ann.items(f"{item}/events")), 1)

    def test_one_of_sixteen_gets_the_name(self):
        library = self.ann.library()
        statuses = at_once(lambda n: self.ann("POST", f"{library}/collections", {"Name": "Foo" if n % 2 else "FOO"}).status)
        self.assertEqual(sorted(statuses), [201] + [409] * 15)

    def test_one_of_sixteen_shares_it(self):
        ann, bob = self.joined("ann"), self.joined("bob")
        library = ann.library()
        statuses = at_once(lambda n: ann("POST", f"{library}/share", {"email": self.address("bob")}).status)
        self.assertEqual(sorted(statuses), [200] + [409] * 15)
        self.assertEqual(ann("GET", library).json["SharedTo"], [self.address("bob")])
        statuses = at_once(lambda n: ann("POST", f"{library}/unshare", {"email": self.address("bob")}).status)
        self.assertEqual(sorted(statuses), [200] + [404] * 15)
        self.assertEqual(bob.items("/libraries"), [])

    def test_one_file_that_is_imported_by_many_is_imported_once(self):
        library = self.ann.library()
        lines = "".join(f"b{n},{isbn(n)},C{n % 3}\n" for n in range(60))
        answers = at_once(lambda n: self.ann("POST", f"{library}/import", f"Title,Isbn,Collection\n{lines}", Content_Type="text/csv"))
        for answer in answers:
            self.assertTrue(answer.status == 200 or self.expect(answer, 409, "ImportRunning"))
        self.assertEqual(sum(answer.json["created"] for answer in answers if answer.status == 200), 60)
        self.assertEqual(self.ann("GET", library).json["TotalItems"], 60)

    def test_a_collection_that_is_deleted_during_an_import_is_made_again(self):
        library = self.ann.library()
        done = []

        def load():
            done.append(self.ann("POST", f"{library}/import", "Title,Collection\n" + "x,Foo\n" * 200, Content_Type="text/csv"))

        running = threading.Thread(target=load)
        running.start()
        self.wait_until(lambda: self.ann.items(f"{library}/collections"))
        self.ann.done("DELETE", f"{library}/collections/{self.ann.items(f'{library}/collections')[0]['CollectionId']}")
        running.join()
        report = self.expect(done[0], 200).json
        self.assertEqual((report["created"], report["errors"]), (200, []))

    def test_counters_count_everyone(self):
        library = self.ann.library()
        foo = self.ann.collection(library)

        def work(n):
            paths = [self.ann.book(library, f"b{n}", CollectionId=foo, Order=n + 1) for _ in range(5)]
            self.ann.done("DELETE", paths[0])

        at_once(work)
        self.assertEqual(self.ann("GET", library).json["TotalItems"], CLIENTS * 4)
        self.assertEqual(self.ann("GET", f"{library}/collections/{foo}").json["ItemCount"], CLIENTS * 4)
        self.assertEqual(len(self.ann.items(f"{library}/collections/{foo}/items")), CLIENTS * 4)

    def test_searches_while_others_write_find_each_item_once(self):
        library = self.ann.library()

        def work(n):
            for m in range(5):
                self.ann.book(library, f"word n{n}m{m}")
                found = [one["Title"] for one in self.ann.items("/search?q=word&limit=100")]
                self.assertEqual(len(found), len(set(found)))
                self.assertIn(f"word n{n}m{m}", found)

        at_once(work)
        self.assertEqual(len(self.ann.items("/search?q=word&limit=7")), CLIENTS * 5)


@unittest.skipIf(stator.in_memory_only(), "what is in memory alone does not survive")
class Killed(Rest):
    """kill -9 while everyone writes; then everything is as the model says, and nothing that was answered is lost."""

    def test_nothing_is_left_half_done(self):
        ann, bob = self.joined("ann"), self.joined("bob")
        library = ann.library()
        stop = threading.Event()
        made, libraries = [], []

        def work(n):
            dice = random.Random(n)
            while not stop.is_set():
                try:
                    choice = dice.random()
                    if choice < 0.5:
                        made.append(ann.book(library, f"b{n}"))
                        ann("POST", f"{as_item(made[-1])}/lend", {"borrower": "Eve"})
                    elif choice < 0.7:
                        foo = ann.collection(library, f"c{n}.{dice.random()}")
                        ann.book(library, "in it", CollectionId=foo, Order=1)
                        ann("DELETE" if dice.random() < 0.5 else "PATCH", f"{library}/collections/{foo}", {"Name": f"d{n}.{dice.random()}"})
                    elif choice < 0.9:
                        other = ann.library(f"l{n}")
                        ann.book(other, "goes")
                        ann("POST", f"{other}/share", {"email": self.address("bob")})
                        ann("DELETE", other)
                        libraries.append(other)
                    else:
                        ann("PATCH", library, {"LibraryName": f"n{dice.random()}"[:20]})
                except (OSError, ValueError, AssertionError):  # the server is gone, or was on its way
                    continue
                except Exception as error:
                    if "http.client" not in type(error).__module__:
                        raise

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            running = [pool.submit(work, n) for n in range(CLIENTS)]
            self.wait_until(lambda: len(made) > 100 and len(libraries) > 20)
            self.app.kill()
            stop.set()
            for one in running:
                one.result()
        wrong = self.verify()
        # Copies, the keys made of them and children of what was deleted follow later; all else is kept true by each transaction.
        self.assertEqual([line for line in wrong if not line.startswith(("copy: ", "key: ", "orphan: "))], [])
        self.verify("--repair")  # as the consistency manager does when it is there again
        self.assertEqual(self.verify(), [])
        self.app.start()
        for path in made:
            self.expect(ann("GET", path), 200)
        for path in libraries:
            self.expect(ann("GET", path), 404)
        name = ann("GET", library).json["LibraryName"]
        mine = [one for one in ann.items("/items?limit=100") if one["LibraryId"] in library]
        self.assertEqual({one["LibraryName"] for one in mine}, {name})
        self.assertEqual(len(mine), ann("GET", library).json["TotalItems"])
        shared = [one["LibraryId"] for one in ann.items("/libraries") if "SharedTo" in one]
        self.assertEqual(sorted(one["LibraryId"] for one in bob.items("/libraries")), sorted(shared))

    def verify(self, *arguments):
        """What is not as the model says; nobody else is at the data."""
        said = self.app.verify(*arguments)
        self.assertIn("findings", said)
        return [line for line in said.splitlines()[:-1] if not line.startswith(" ")]
