"""A PostgreSQL of a test's own: in a temporary folder, at a socket there, as an unprivileged user, gone afterwards."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

import waiting

START_SECONDS = 60


def programs():
    """Where Debian has the programs of its newest PostgreSQL."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise RuntimeError("there is no PostgreSQL: install the package postgresql-15")
    return found[-1].parent


class Pgbouncer:
    """The connection pool before a Postgres; a context manager."""

    def __init__(self, before, mode):
        self.before, self.process = before, None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pool-", dir=before.folder))
        settings = f"""[databases]
* = host={before.folder} user=stator
[pgbouncer]
listen_addr =
unix_socket_dir = {self.folder}
auth_type = any
pool_mode = {mode}
default_pool_size = 30
"""
        (self.folder / "pgbouncer.ini").write_text(settings)
        if before.user:
            os.chown(self.folder, before.user.pw_uid, before.user.pw_gid)
            os.chmod(self.folder / "pgbouncer.ini", 0o644)

    def __enter__(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["/usr/sbin/pgbouncer", self.folder / "pgbouncer.ini"], cwd="/", stdout=log,
                                            stderr=log, **self.before.as_user())  # fmt: skip
        waiting.until(lambda: list(self.folder.glob(".s.PGSQL.*")), "pgbouncer listens", START_SECONDS)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(START_SECONDS)

    def url(self, database):
        return f"postgres://stator@/{database}?host={self.folder}&port=6432"


class Postgres:
    """A context manager.  It does not sync, since nothing here pulls the plug, unless `settings` say so."""

    def __init__(self, **settings):
        self.settings = {"fsync": "off", "shared_buffers": "32MB", "listen_addresses": "", **settings}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stator-pg-", dir="/tmp"))  # a socket's path is short
        self.process = None
        self.user = None  # PostgreSQL refuses root
        if os.geteuid() == 0:
            self.user = next(pwd.getpwnam(name) for name in ("postgres", "nobody") if self.has_user(name))
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)

    @staticmethod
    def has_user(name):
        return any(user.pw_name == name for user in pwd.getpwall())

    def __enter__(self):
        self.make_data()
        return self.start()

    def make_data(self):
        self.run("initdb", "-D", self.folder / "data", "-U", "stator", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                 "--no-sync", "--no-instructions")  # fmt: skip

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def as_user(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}

    def run(self, program, *arguments, text=None):
        ran = subprocess.run([programs() / program, *map(str, arguments)], cwd="/", input=text, capture_output=True,
                             text=True, timeout=START_SECONDS, check=False, **self.as_user())  # fmt: skip
        if ran.returncode != 0:
            raise RuntimeError(f"{program} failed: {ran.stderr}")
        return ran.stdout

    def start(self):
        with open(self.folder / "postgres.log", "ab") as log:
            self.process = subprocess.Popen(
                [programs() / "postgres", "-D", self.folder / "data", "-k", self.folder,
                 *(f"--{name}={value}" for name, value in self.settings.items())],
                cwd="/", stdout=log, stderr=log, **self.as_user())  # fmt: skip
        state = self.folder / "data" / "postmaster.pid"
        waiting.until(lambda: state.exists() and "ready" in state.read_text(), "PostgreSQL is ready", START_SECONDS)
        return self

    def stop(self):
        """Ends it, and every session."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(START_SECONDS)
            self.process = None

    def set(self, name, value):
        """Changes a setting while it runs."""
        self.sql(f"ALTER SYSTEM SET {name} = {value}")
        self.sql("SELECT pg_reload_conf()")

    @contextlib.contextmanager
    def paused(self):
        """All its processes stand still, as when its machine does: they neither answer nor end connections."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.process.send_signal(signal.SIGSTOP)  # it starts no others
        stopped = [self.process.pid, *map(int, children.read_text().split())]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def url(self, database="postgres", user="stator"):
        port = f"&port={self.settings['port']}" if "port" in self.settings else ""
        return f"postgres://{user}@/{database}?host={self.folder}{port}"

    @contextlib.contextmanager
    def session(self, database="postgres"):
        """Runs statements one after another in the same session."""
        psql = subprocess.Popen([programs() / "psql", "-X", "-q", "-A", "-t", self.url(database)], cwd="/", text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, **self.as_user())  # fmt: skip

        def run(text):
            print(f"{text};\nSELECT 'done';", file=psql.stdin, flush=True)
            for line in psql.stdout:
                if line.strip() == "done":
                    break

        try:
            yield run
        finally:
            psql.stdin.close()
            psql.wait(START_SECONDS)
            psql.stdout.close()

    def sql(self, text, database="postgres"):
        """The output of psql for the statements, without headings."""
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url(database), text=text).strip()


class Standby(Postgres):
    """Follows a Postgres, until it is promoted."""

    def __init__(self, primary, **settings):
        super().__init__(**settings)
        self.primary = primary

    def make_data(self):
        self.run("pg_basebackup", "-D", self.folder / "data", "-d", self.primary.url(), "-R", "--checkpoint=fast", "--no-sync")

    def promote(self):
        self.sql("SELECT pg_promote()")
