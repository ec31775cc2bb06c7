"""A bare Debian 12 in a folder: what is tested on it finds nothing that somebody has installed here.

The bare system is made once by debootstrap and kept in build/; each machine is unpacked from it, or copied from another.
A machine shares the network of the host and nothing else.  Needs root.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "tools"))
import waiting

KEPT = TOP / "build" / "bare-debian-12.tar"
SECONDS = 900  # for one command; apt may have a slow mirror
BOOT_SECONDS = 120
MOUNTS = ("proc", "dev")
CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE")


def host(*command):
    ran = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=SECONDS, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {ran.stdout[-1000:]}{ran.stderr[-1000:]}")
    return ran.stdout


def mirror():
    """Where this machine gets its packages; None when it does not say, and debootstrap knows a place."""
    files = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
    for file in files:
        text = file.read_text(errors="replace") if file.is_file() else ""
        found = re.search(r"^(?:deb (?:\[.*\] )?|URIs: *)(https?://\S+/debian)/?\s", text, re.MULTILINE)
        if found:
            return found[1]
    return None


def need(package, program):
    host("bash", "-c", f"cd {TOP} && source cmake/packages.sh && install_missing {package}:{program}")


def kept_bare_system():
    if os.geteuid() != 0:
        raise RuntimeError("a bare machine is made with chroot and mount, which need root: sudo ./test packages")
    if not KEPT.exists():
        need("debootstrap", "debootstrap")
        with tempfile.TemporaryDirectory() as folder:
            host("debootstrap", "--variant=minbase", "bookworm", folder, *filter(None, [mirror()]))
            host("chroot", folder, "apt-get", "clean")
            part = KEPT.with_suffix(".part")
            host("tar", "-C", folder, "-cf", part, ".")
            part.rename(KEPT)
    return KEPT


def entering(process):
    """What to put before a command, so that it runs in the machine whose process this is."""
    return ["nsenter", f"--target={process}", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root", "--wd"]


class BareMachine:
    """Use it in a `with`, or call close()."""

    def __init__(self, other=None):
        self.inside = None  # the first process of a machine that is booted
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="bare-"))
        try:
            if other:
                host("cp", "-a", "--one-file-system", f"{other.root}/.", self.root)
            else:
                host("tar", "-C", self.root, "-xf", kept_bare_system())
            self.root.chmod(0o755)  # the archive has the mode of a temporary folder
            for name in ("resolv.conf", "hosts"):
                if (pathlib.Path("/etc") / name).exists():
                    shutil.copy(f"/etc/{name}", self.root / "etc")
            self.mount()
        except BaseException:
            self.close()
            raise
        self.environment = {"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb",
                            "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}  # fmt: skip
        for name in CERTIFICATES:  # those that this machine's clients of package servers trust
            if os.path.isfile(os.environ.get(name, "")):
                shutil.copy(os.environ[name], self.root / "etc" / "host-certificates.pem")
                self.environment[name] = "/etc/host-certificates.pem"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def mount(self):
        for mount in MOUNTS:
            host("mount", "--rbind", f"/{mount}", self.root / mount)
            host("mount", "--make-rslave", self.root / mount)

    def unmount(self):
        for mount in MOUNTS:
            if os.path.ismount(self.root / mount):
                host("umount", "-l", self.root / mount)

    @contextlib.contextmanager
    def booted(self):
        """The machine with its own systemd as the first process, for as long as the `with` lasts: commands run beside it."""
        need("systemd-container", "systemd-nspawn")
        self.unmount()
        words = ["systemd-nspawn", "--quiet", f"--directory={self.root}", f"--machine={self.root.name}", "--boot", "--register=no",
                 "--keep-unit", "--resolv-conf=off", "--console=pipe"]  # fmt: skip
        nspawn = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.inside = waiting.until(lambda: self.first_process(nspawn), "the machine has booted", BOOT_SECONDS, 0.2)
            yield
        finally:
            self.inside = None
            nspawn.terminate()  # an orderly end of the machine
            try:
                nspawn.wait(BOOT_SECONDS)
            except subprocess.TimeoutExpired:
                nspawn.kill()
                nspawn.wait()
            self.mount()

    @staticmethod
    def first_process(nspawn):
        """The systemd of the machine, seen from here, once it has started everything; None before."""
        if nspawn.poll() is not None:
            raise AssertionError(f"systemd-nspawn has ended with {nspawn.returncode}")
        for child in pathlib.Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children").read_text().split():
            ran = subprocess.run([*entering(child), "systemctl", "is-system-running"], text=True, capture_output=True, check=False)
            if ran.stdout in ("running\n", "degraded\n"):
                return child
        return None

    def close(self):
        self.unmount()
        # Never a folder of the host, should something still be mounted.
        host("rm", "-rf", "--one-file-system", self.root)

    def command(self, *words, user=None):
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        place = entering(self.inside) if self.inside else ["chroot", str(self.root)]
        return [*place, *as_user, *map(str, words)]

    def run(self, script, user=None, **environment):
        """Runs a line of shell."""
        return subprocess.run(self.command("sh", "-c", script, user=user), env=self.environment | environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)  # fmt: skip

    def expect(self, script, user=None, **environment):
        ran = self.run(script, user, **environment)
        if ran.returncode != 0:
            raise AssertionError(f"{script}: status {ran.returncode}\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}")
        return ran.stdout

    def put(self, file, folder="/srv"):
        shutil.copy(file, self.root / folder.lstrip("/"))
        return f"{folder}/{pathlib.Path(file).name}"
