"""Discs that are objects: `nbuf serve` in front of an emulator of a store, read and written by clients of NBD."""

import http.client
import http.server
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest
from test_stores import DEADLINE_SECONDS, VARIABLES, Aws, Azure, Google, free_port, skip

# More than one request for each, and no whole number of pages.
DISC_BYTES = 5_000_000
CHUNK_BYTES = 4 << 20
# Three chunks, and a sector.
CHUNKED_BYTES = 3 * CHUNK_BYTES + 512
READ, WRITE, FLUSH, TRIM, WRITE_ZEROES = 0, 1, 3, 4, 6
FUA = 1


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


class Client:
    """A client of NBD. Each request gives the number of its error, and what it read."""

    def __init__(self, server):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE_SECONDS)
        self.socket.connect(str(server.socket))
        assert self.take(16) == b"NBDMAGICIHAVEOPT"
        self.take(2)
        self.socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
        self.size, self.flags = struct.unpack(">QH", self.take(10))

    def take(self, length):
        parts = b""
        while len(parts) < length:
            part = self.socket.recv(length - len(parts))
            assert part, "the server has closed the connection"
            parts += part
        return parts

    def ask(self, kind, offset=0, length=0, data=b"", flags=0):
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, 7, offset, length) + data)
        magic, error, handle = struct.unpack(">IIQ", self.take(16))
        assert (magic, handle) == (0x67446698, 7)
        return error, self.take(length) if kind == READ and not error else b""

    def write(self, offset, data, flags=0):
        return self.ask(WRITE, offset, len(data), data, flags)[0]

    def read(self, offset, length):
        return self.ask(READ, offset, length)

    def flush(self):
        return self.ask(FLUSH)[0]


class Forward(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_chunk = self.command == "PUT" and re.search(r"/\d{8}$", self.path)
        if is_chunk and self.server.refuses:
            return self.answer(403, [], b"<Error><Code>AccessDenied</Code></Error>")
        behind = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=DEADLINE_SECONDS)
        behind.request(self.command, self.path, body, dict(self.headers))
        got = behind.getresponse()
        data = got.read()
        behind.close()
        if is_chunk and self.server.loses and got.status == 200:
            self.server.loses -= 1
            return self.answer(500, [], b"<Error><Code>InternalError</Code></Error>")
        self.answer(got.status, got.getheaders(), data)

    def answer(self, status, headers, data):
        own = ("connection", "content-length", "date", "server", "transfer-encoding")
        length = dict(headers).get("Content-Length", len(data)) if self.command == "HEAD" else len(data)
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in own:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_HEAD = do_PUT = do_POST = forward


@pytest.fixture
def proxy(web):
    """What is between a server and its store: it can refuse PUTs of chunks, and lose answers to them."""
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    proxy.daemon_threads = True
    proxy.behind, proxy.refuses, proxy.loses = web.port, False, 0
    proxy.environment = web.environment | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.server_port}"}
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    yield proxy
    proxy.shutdown()
    thread.join()
    proxy.server_close()


def get(web, key):
    return web.client().get_object(Bucket="traces", Key=key)["Body"].read()


def names(web, prefix):
    found = web.client().list_objects_v2(Bucket="traces", Prefix=prefix + "/")
    return sorted(one["Key"].removeprefix(prefix + "/") for one in found.get("Contents", []))


def end_lease(web, prefix):
    """Ends the lease of a server that was killed, as half a minute would."""
    lease = json.loads(get(web, f"{prefix}/lease"))
    web.put(f"{prefix}/lease", json.dumps(lease | {"until_ms": 1}).encode())
    return lease


@pytest.fixture(scope="module", params=[Aws, Azure])
def written(request, tmp_path_factory):
    """A store whose emulator has conditions of PUTs."""
    store = request.param(tmp_path_factory.mktemp("written"))
    try:
        store.make()
        yield store
    finally:
        store.stop()


@pytest.mark.parametrize("write", ["through", "back", "around"])
def test_a_disc_of_chunks_keeps_what_was_flushed(program, written, tmp_path, write):
    disc = written.url.replace("://", "+chunks://") + f"/discs/{write}"
    want, chance = bytearray(CHUNKED_BYTES), random.Random(4)
    for size in (f"?size={CHUNKED_BYTES}", ""):
        server = Server(program, disc + size, tmp_path, written.environment, "--write", write)
        assert server.process.poll() is None, server.log.read_text()
        client = Client(server)
        assert client.size == CHUNKED_BYTES
        assert client.read(0, CHUNKED_BYTES) == (0, bytes(want))
        for _ in range(20):
            length = chance.choice([512, 5000, 300_000])
            at = chance.randrange(CHUNKED_BYTES - length)
            want[at : at + length] = data = chance.randbytes(length)
            assert client.write(at, data, chance.choice([0, 0, 0, FUA])) == 0
        at = chance.randrange(2 * CHUNK_BYTES)
        want[at : at + 100_000] = bytes(100_000)
        assert client.ask(WRITE_ZEROES, at, 100_000)[0] == 0
        assert client.read(0, CHUNKED_BYTES) == (0, bytes(want))
        assert client.flush() == 0
        status, log = server.end()
        assert status == 0, log
    server = Server(program, disc, tmp_path, written.environment, "--read-only")
    assert server.copy("read") == want
    assert server.end()[0] == 0


def test_chunks_are_the_objects_that_are_documented(program, web, tmp_path):
    disc = f"s3+chunks://traces/layout?size={CHUNKED_BYTES}"
    server = Server(program, disc, tmp_path, web.environment)
    client = Client(server)
    assert client.flush() == 0 and names(web, "layout") == ["lease", "manifest"]
    assert client.write(CHUNK_BYTES + 10, b"nbuf") == 0
    assert client.write(3 * CHUNK_BYTES, b"x" * 512) == 0
    assert client.flush() == 0
    assert names(web, "layout") == ["00000001", "00000003", "lease", "manifest"]
    assert get(web, "layout/00000001") == bytes(10) + b"nbuf" + bytes(CHUNK_BYTES - 14)
    assert get(web, "layout/00000003") == b"x" * 512 + bytes(CHUNK_BYTES - 512)
    assert client.ask(TRIM, CHUNK_BYTES, CHUNK_BYTES)[0] == 0 and client.flush() == 0
    assert get(web, "layout/00000001") == b"nbuf.chunks-zeros/1\n"
    assert client.read(CHUNK_BYTES, 100) == (0, bytes(100))
    manifest = {"format": "nbuf.chunks/1", "size_bytes": CHUNKED_BYTES, "chunk_bytes": CHUNK_BYTES}
    assert json.loads(get(web, "layout/manifest")) == manifest
    assert server.end()[0] == 0
    assert json.loads(get(web, "layout/lease"))["until_ms"] == 0


def test_a_second_writer_is_refused_until_the_lease_ends(program, web, tmp_path):
    disc = "s3+chunks://traces/leased"
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
    first = Server(program, f"{disc}?size=8MiB", folders[0], web.environment)
    client = Client(first)
    assert client.write(0, b"a" * 512) == 0 and client.flush() == 0

    def refused(folder):
        server = Server(program, disc, folder, web.environment)
        assert server.process.wait(timeout=DEADLINE_SECONDS) == 125
        log = server.log.read_text()
        assert f"writes {disc}: end it, or start again in" in log and log.count("\n") == 1, log
        assert f"process {first.process.pid}" in log

    refused(folders[1])
    reader = Server(program, disc, folders[2], web.environment, "--read-only")
    assert Client(reader).read(0, 512) == (0, b"a" * 512)
    assert reader.end()[0] == 0
    first.process.kill()
    first.process.wait()
    refused(folders[1])
    assert end_lease(web, "leased")["generation"] == 1
    second = Server(program, disc, folders[3], web.environment)
    assert Client(second).read(0, 512) == (0, b"a" * 512)
    assert json.loads(get(web, "leased/lease"))["generation"] == 2
    assert second.end()[0] == 0


@pytest.mark.parametrize("write", ["through", "back"])
def test_a_refused_put_fails_the_flush_and_stays_owed(program, web, proxy, tmp_path, write):
    disc = f"s3+chunks://traces/refused-{write}"
    options = (tmp_path, proxy.environment, "--write", write)
    server = Server(program, f"{disc}?size=12MiB", *options)
    client = Client(server)
    data = random.Random(5).randbytes(2 * CHUNK_BYTES)
    assert client.write(0, data[:1000]) == 0 and client.flush() == 0
    proxy.refuses = True
    assert client.write(1000, data[1000:]) == 0
    assert client.flush() != 0 and client.flush() != 0
    assert client.read(0, len(data)) == (0, data)
    assert f"cannot write {disc}/0000000" in server.log.read_text()
    proxy.refuses = False
    assert client.flush() == 0
    assert get(web, f"refused-{write}/00000000") + get(web, f"refused-{write}/00000001") == data
    # What is not in the store at the end is said.
    proxy.refuses = True
    assert client.write(0, bytes(512)) == 0
    status, log = server.end()
    assert status == 1, log
    proxy.refuses = False
    server = Server(program, disc, *options)
    assert Client(server).read(0, len(data)) == (0, data)
    assert server.end()[0] == 0


def test_a_lost_answer_is_no_other_writer(program, web, proxy, tmp_path):
    server = Server(program, "s3+chunks://traces/lost?size=12MiB", tmp_path, proxy.environment)
    client = Client(server)
    for byte in (b"a", b"b"):
        proxy.loses = 2
        assert client.write(0, byte * CHUNK_BYTES) == 0 and client.write(CHUNK_BYTES, byte) == 0
        assert client.flush() == 0, server.log.read_text()
        assert proxy.loses == 0 and get(web, "lost/00000000") == byte * CHUNK_BYTES
    assert server.end()[0] == 0


def test_a_chunk_of_another_writer_ends_all_writes(program, web, tmp_path):
    server = Server(program, "s3+chunks://traces/taken?size=12MiB", tmp_path, web.environment)
    client = Client(server)
    assert client.write(0, b"a" * 512) == 0 and client.flush() == 0
    web.put("taken/00000000", bytes(CHUNK_BYTES))
    assert client.write(512, b"b" * 512) == 0
    assert client.flush() != 0 and client.flush() != 0
    assert client.write(CHUNK_BYTES, b"b" * 512) != 0
    assert get(web, "taken/00000000") == bytes(CHUNK_BYTES)
    status, log = server.end()
    assert status == 1 and "another server has written s3+chunks://traces/taken/00000000" in log, log


def test_a_disc_of_chunks_has_one_size(program, web, tmp_path):
    def refused(disc, want):
        server = Server(program, disc, tmp_path, web.environment)
        assert server.process.wait(timeout=DEADLINE_SECONDS) == 125
        assert want in server.log.read_text()

    refused("s3+chunks://traces/sized", "there is no disc at s3+chunks://traces/sized: add ?size=10GiB")
    server = Server(program, "s3+chunks://traces/sized?size=8MiB", tmp_path, web.environment)
    assert server.end()[0] == 0
    refused("s3+chunks://traces/sized?size=9MiB", "has 8388608 B, not 9437184 B: leave out ?size=")
