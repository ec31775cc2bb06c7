"""What the tests of the media library have in common."""

import uuid
import zlib

import rest


class Caller(rest.Caller):
    """Somebody with libraries."""

    def done(self, method, path, body=None):
        answer = self(method, path, body)
        assert answer.status < 300, (method, path, answer.status, answer.body)
        return answer.json if answer.body else None

    def register(self, name, email):
        return self.done("PUT", "/me", {"Name": name, "Email": email})

    def library(self, name="Home", **more):
        return f"/libraries/{self.done('POST', '/libraries', {'LibraryName': name, **more})['LibraryId']}"

    def collection(self, library, name="Foo", **more):
        return self.done("POST", f"{library}/collections", {"Name": name, **more})["CollectionId"]

    def book(self, library, title="Dune", **more):
        """The path of a new book."""
        return f"{library}/books/{self.done('POST', f'{library}/books', {'Title': title, **more})['ItemId']}"

    def video(self, library, title="Stalker", **more):
        return f"{library}/videos/{self.done('POST', f'{library}/videos', {'Title': title, **more})['ItemId']}"


def as_item(path):
    """/libraries/L/books/I as /libraries/L/items/I, where both kinds are lent."""
    return path.replace("/books/", "/items/").replace("/videos/", "/items/")


def unknown():
    return str(uuid.uuid4())


class Rest(rest.Rest):
    model = "media-library"
    prefix = "/systems/media-library/v1"
    caller = Caller

    def address(self, who):
        """An e-mail address of nobody but this test's user of that name."""
        return f"{who}.{zlib.crc32(self.id().encode()):x}@example.org"

    def signed_in(self, who, *claims):
        """The user of that name, whose token says more: --name NAME, --email ADDRESS."""
        return Caller(self.app, self.prefix, self.app.token(f"{who}-{self.name}", *claims))

    def joined(self, who):
        """The user of that name, registered."""
        user = self.user(f"{who}-{self.name}")
        user.register(who.capitalize(), self.address(who))
        return user
