"""Several Stators over one PostgreSQL, used like one server: see Server in server.py."""
import os
import signal

import dynamo
import server as stator
import waiting


class Cluster:
    """A context manager.  Clients find the servers by the commas in `endpoint`."""

    memory = False

    def __init__(self, count, store, arguments=()):
        self.servers = [stator.Server(None, ["--store", store, *arguments]) for _ in range(count)]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__(None)

    @property
    def endpoint(self):
        return ",".join(server.endpoint for server in self.servers)

    def connect(self, timeout=60):
        return dynamo.connect(self.endpoint, timeout * stator.slowness())

    def start(self):
        """Starts those that are not there."""
        for server in self.servers:
            if not server.alive():
                server.start()
        return self

    def alive(self):
        return all(server.alive() for server in self.servers)

    @staticmethod
    def pause(server, seconds):
        """Its process stands still, as when its machine does."""
        os.kill(server.pid, signal.SIGSTOP)
        waiting.let_work(seconds)
        os.kill(server.pid, signal.SIGCONT)

    def disturb(self, rng):
        """Kills one, asks it to end, or stops it for a while, and lets it come back."""
        server, choice = rng.choice(self.servers), rng.random()
        if choice < 0.4:
            self.pause(server, rng.uniform(0.5, 4))
            return
        if choice < 0.8:
            server.kill()
        else:
            server.stop()
        waiting.let_work(rng.uniform(0, 1))
        server.start()

    def log(self):
        return "\n".join(server.log() for server in self.servers)


def from_environment():
    """The servers of a suite: one, or STATOR_TEST_SERVERS of them over the store in STATOR_STORE."""
    count = int(os.environ.get("STATOR_TEST_SERVERS", "1"))
    return Cluster(count, os.environ["STATOR_STORE"]) if count > 1 else stator.Server()
