"""Discs that are objects: `nbuf serve` in front of an emulator of a store, read by a client of NBD."""

import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from test_stores import DEADLINE_SECONDS, VARIABLES, Aws, Azure, Google, free_port, skip

# More than one request for each, and no whole number of pages.
DISC_BYTES = 5_000_000


@pytest.fixture(scope="module")
def program():
    path = os.environ.get("NBUF_PROGRAM")
    if not path or not os.path.exists(path):
        skip("no program was built: cargo build")
    if shutil.which("nbdcopy") is None:
        skip("no client of NBD: apt install libnbd-bin")
    return path


@pytest.fixture(scope="module", params=[Aws, Azure, Google])
def store(request, tmp_path_factory):
    store = request.param(tmp_path_factory.mktemp("emulator"))
    try:
        store.make()
        yield store
    finally:
        store.stop()


class Server:
    """A running server, or one that has ended with an error."""

    def __init__(self, program, disc, folder, environment, *options):
        self.folder, self.socket = folder, folder / "disc.sock"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(VARIABLES)}
        words = [program, "serve", "--disc", disc, "--size", "1MiB", "--socket", str(self.socket), *options]
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                words, stdout=subprocess.DEVNULL, stderr=log, env=kept | environment, text=True
            )
        end = time.monotonic() + DEADLINE_SECONDS
        while not self.socket.exists() and self.process.poll() is None:
            assert time.monotonic() < end, "the server neither starts nor ends"
            time.sleep(0.02)
        if self.process.poll() is not None and "--features object-stores" in self.log.read_text():
            assert self.process.returncode == 125 and self.log.read_text().count("\n") == 1
            skip("this program reads no objects: cargo build --features object-stores")

    def copy(self, name):
        """Reads the whole disc: what came, or nothing if that failed."""
        to = self.folder / name
        ran = subprocess.run(
            ["nbdcopy", f"nbd+unix:///?socket={self.socket}", str(to)],
            capture_output=True,
            timeout=DEADLINE_SECONDS,
        )
        return to.read_bytes() if ran.returncode == 0 else None

    def end(self):
        """Drains it: its status, and its standard error."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=DEADLINE_SECONDS), self.log.read_text()


def test_an_object_of_a_store_is_a_disc(program, store, tmp_path):
    disc = random.Random(1).randbytes(DISC_BYTES)
    store.put("discs/a b.img", disc)
    server = Server(program, f"{store.url}/discs/a b.img", tmp_path, store.environment)
    assert server.process.poll() is None, server.log.read_text()
    assert server.copy("first") == disc
    store.put("discs/a b.img", bytes(reversed(disc)))
    assert server.copy("second") is None, "no bytes of two versions"
    status, log = server.end()
    assert status == 0 and "has changed since nbuf opened it" in log, log
    server = Server(program, f"{store.url}/discs/a b.img", tmp_path, store.environment)
    assert server.copy("third") == bytes(reversed(disc))
    assert server.end()[0] == 0


def test_an_object_that_is_not_there_is_named(program, store, tmp_path):
    server = Server(program, f"{store.url}/discs/absent.img", tmp_path, store.environment)
    assert server.process.wait(timeout=DEADLINE_SECONDS) == 125
    assert f"there is no object {store.url}/discs/absent.img" in server.log.read_text()


class Web(Aws):
    """A web server with ranges: S3 by signed URLs, whose signature is for GET alone."""

    def sign(self, key):
        return self.client().generate_presigned_url("get_object", Params={"Bucket": "traces", "Key": key})


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    server = Web(tmp_path_factory.mktemp("web"))
    try:
        server.make()
        yield server
    finally:
        server.stop()


def test_a_file_of_a_web_server_is_a_disc(program, web, tmp_path):
    disc = random.Random(2).randbytes(DISC_BYTES)
    web.put("disc.img", disc)
    url = web.sign("disc.img")
    server = Server(program, url, tmp_path, {})
    assert server.process.poll() is None, server.log.read_text()
    assert server.copy("first") == disc
    web.put("disc.img", bytes(DISC_BYTES))
    assert server.copy("second") is None, "no bytes of two versions"
    status, log = server.end()
    address = url.split("?")[0]
    assert status == 0 and f"{address} has changed since nbuf opened it" in log, log


def test_a_tier_of_an_unchanged_object_is_warm_without_a_promise(program, web, tmp_path):
    disc = random.Random(3).randbytes(DISC_BYTES)
    web.put("tier.img", disc)
    tier = ["--tier", str(tmp_path / "tier"), "--tier-size", "16MiB"]
    for name in ("first", "second"):
        server = Server(program, web.sign("tier.img"), tmp_path, {}, *tier)
        assert server.copy(name) == disc
        status, log = server.end()
        assert status == 0, log
    assert "of the last run" in log, log
    web.put("tier.img", bytes(reversed(disc)))
    server = Server(program, web.sign("tier.img"), tmp_path, {}, *tier)
    assert server.copy("third") == bytes(reversed(disc))
    status, log = server.end()
    assert status == 0 and "it was changed meanwhile" in log, log


def test_a_server_that_does_not_answer_is_named(program, tmp_path):
    url = f"http://127.0.0.1:{free_port()}/disc.img"
    server = Server(program, f"{url}?signature=secret", tmp_path, {})
    assert server.process.wait(timeout=DEADLINE_SECONDS) == 125
    log = server.log.read_text()
    assert f"cannot reach {url} (" in log and "secret" not in log and log.count("\n") == 1, log
