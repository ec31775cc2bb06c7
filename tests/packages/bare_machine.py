"""A bare Debian 12 in a folder: what is tested on it finds nothing that somebody has installed here.

The bare system is made once by debootstrap and kept in build/; each machine is unpacked from it, or copied from another.
A machine shares the network of the host and nothing else.  Needs root.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
KEPT = TOP / "build" / "bare-debian-12.tar"
SECONDS = 900  # for one command; apt may have a slow mirror
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


def kept_bare_system():
    if os.geteuid() != 0:
        raise RuntimeError("a bare machine is made with chroot and mount, which need root: sudo ./test packages")
    if not KEPT.exists():
        host("bash", "-c", f"cd {TOP} && source cmake/packages.sh && install_missing debootstrap:debootstrap")
        with tempfile.TemporaryDirectory() as folder:
            host("debootstrap", "--variant=minbase", "bookworm", folder, *filter(None, [mirror()]))
            host("chroot", folder, "apt-get", "clean")
            part = KEPT.with_suffix(".part")
            host("tar", "-C", folder, "-cf", part, ".")
            part.rename(KEPT)
    return KEPT


class BareMachine:
    """Use it in a `with`, or call close()."""

    def __init__(self, other=None):
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
            for mount in MOUNTS:
                host("mount", "--rbind", f"/{mount}", self.root / mount)
                host("mount", "--make-rslave", self.root / mount)
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

    def close(self):
        for mount in MOUNTS:
            if os.path.ismount(self.root / mount):
                host("umount", "-l", self.root / mount)
        # Never a folder of the host, should something still be mounted.
        host("rm", "-rf", "--one-file-system", self.root)

    def command(self, *words, user=None):
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        return ["chroot", str(self.root), *as_user, *map(str, words)]

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
