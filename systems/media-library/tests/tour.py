"""The README's five minutes, pasted line by line."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import rest
import server as stator
from media import Rest

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"


@unittest.skipIf(stator.in_memory_only(), "the sample data is loaded before the server starts")
class Tour(Rest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([stator.binary(), "demo", cls.model, "--data", folder.name], check=True, capture_output=True)
        cls.app = rest.App(folder.name, cls.model, command="up")
        cls.addClassCleanup(lambda: cls.app.kill())

    def test_the_sample_data_is_in_the_documents_order(self):
        ada = self.user("ADA")
        home = next(one for one in ada.items("/libraries") if one["LibraryName"] == "Maison")
        names = [one.get("Title") or one["Name"] for one in ada.items(f"/libraries/{home['LibraryId']}/items?limit=100")]
        expected = ["Angelo", "Chroniques de Dragonlance", "Cycle des princes d'Ambre", "Effondrement"]
        self.assertEqual([name for name in names if name in expected], expected)
        self.assertEqual(self.user("BEN").items("/shared-libraries")[0]["SharedFromName"], "Ada Lovelace")
        self.assertGreater(len(ada.items("/overdue")), 0)

    def test_every_line_works(self):
        tour = re.findall(r"```sh\n(.*?)```", README.read_text(), re.S)[1]
        tour = tour.replace("127.0.0.1:8001", f"127.0.0.1:{self.app.port}").replace("build/release/stator", stator.binary())
        environment = {**os.environ, "STATOR_DATA": self.app.folder}
        lines = [line for line in tour.splitlines() if line]
        script = "".join(f"{line}\necho; echo '--- {n}'\n" for n, line in enumerate(lines))
        done = subprocess.run(["bash", "-e", "-c", script], env=environment, text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = dict(zip(lines, re.split(r"\n--- \d+\n", done.stdout)))

        def answer(start):
            return next(said[line] for line in lines if start in line)

        self.assertIn('"LibraryName":"Films"', answer("$api/libraries  "))
        self.assertIn("Dragons d'un crépuscule d'automne", answer("dragns"))
        self.assertIn("Effondrement", answer("/overdue"))
        self.assertIn('"Order":2', answer("/items  "))
        self.assertIn("AlreadyLent", answer("# 409"))
        self.assertIn("RETURNED", answer("/events"))
        self.assertIn("Dune Messiah", answer("messiah"))
        self.assertIn("Forbidden", answer("# 403"))
        self.assertIn("BOOK,Dune Messiah", answer("/export"))
        self.assertIn("Dragons d'un crépuscule d'automne", answer("dautomne"))
        report = answer("/imports/$job")
        self.assertEqual(said[next(line for line in lines if line.startswith("import  "))], report)
        for part in ('"created":1', '"line":2', '"line":4'):
            self.assertIn(part, report)
