"""A folder of the model before titles sorted alphabetically, brought to the model of today."""

import pathlib
import subprocess
import tempfile
import unittest

import rest
import server as stator
from media import Caller, Rest

OLD = str(pathlib.Path(__file__).with_name("old_model.yaml"))


@unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
class Migration(Rest):
    anywhere = False

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def setUp(self):
        pass  # the test starts its programs itself

    def serve(self, model):
        app = rest.App(self.folder, model)
        self.addCleanup(lambda: app.alive() and app.kill())
        ann = Caller(app, self.prefix, app.token("ann"))
        return app, ann

    def migrate(self):
        return subprocess.run([stator.binary(), "model", "migrate", OLD, self.model, "--data", self.folder, "--yes"], text=True, capture_output=True,
                              timeout=rest.PATIENCE)  # fmt: skip

    def names(self, ann, library):
        return [one.get("Title") or one["Name"] for one in ann.items(f"{library}/items")]

    def test_an_old_folder_is_migrated_when_names_that_become_the_same_are_told_and_changed(self):
        app, ann = self.serve(OLD)
        library = ann.library()
        for title in ("Zèbre", "Œuvre", "Lyon", "Łódź", "Adam"):
            ann.book(library, title)
        fables = ann.collection(library, "Æsop")
        ann.book(library, "Fox", CollectionId=fables)
        clash = f"{library}/collections/{ann.collection(library, 'aesop')}"
        self.assertEqual(self.names(ann, library), ["Adam", "aesop", "Lyon", "Zèbre", "Æsop", "Łódź", "Œuvre"])
        app.stop()

        refused = self.migrate()
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertEqual(refused.stdout.count("reservation: COLLECTION"), 1, refused.stdout)
        self.assertIn("0 things rewritten", refused.stdout)

        app, ann = self.serve(OLD)
        ann.done("PATCH", clash, {"Name": "Aesop, again"})
        app.stop()
        done = self.migrate()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        app, ann = self.serve(self.model)
        self.assertEqual(self.names(ann, library), ["Adam", "Æsop", "Aesop, again", "Łódź", "Lyon", "Œuvre", "Zèbre"])
        self.expect(ann("POST", f"{library}/collections", {"Name": "AESOP"}), 409, "Duplicate")
        report = ann.done("GET", f"{library}/collections/{fables}/items")
        self.assertEqual([one["Title"] for one in report["items"]], ["Fox"])
        app.stop()
        self.assertIn(" 0 findings", app.verify())
