"""Stores that are slow, silent or of the cloud: a server of S3 on this machine that sends as slowly as a test wants."""

import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import urllib.parse

import nbuf
import numpy
import pyarrow
import pytest

# A hundred times what is promised, for a machine under load. Without an end, the server sends for ever.
DEADLINE_SECONDS = 100 * 0.05
# What a test waits for at most; no promise.
PATIENCE_SECONDS = 120
# Ten times the few seconds that a question for credentials may take; before, it took longer.
CREDENTIALS_SECONDS = 50
FIRST_RANGE = 1 << 18


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def object(self):
        """The bytes of the object, or the answer that there is none."""
        data = self.server.objects.get(urllib.parse.unquote(self.path))
        if data is None:
            self.answer(404, b"")
        return data

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", len(body))
        self.end_headers()
        self.wfile.write(body)

    def described(self, length):
        self.send_header("ETag", '"a"')
        self.send_header("Last-Modified", "Sat, 01 Jan 2022 00:00:00 GMT")
        self.send_header("Content-Length", length)

    def do_HEAD(self):
        self.server.seen.append(("HEAD", self.path, self.headers.get("Authorization", "")))
        if (data := self.object()) is not None:
            self.send_response(200)
            self.described(len(data))
            self.end_headers()

    def do_PUT(self):
        self.server.seen.append(("PUT", self.path, ""))
        self.answer(200, b"token")

    def do_GET(self):
        self.server.seen.append(("GET", self.path, self.headers.get("Authorization", "")))
        if self.path.startswith("/latest/"):
            self.cloud()
        elif "list-type=2" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", 1 << 20)
            self.end_headers()
            self.drip()
        elif (data := self.object()) is not None:
            begin, end = map(int, re.match(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
            self.send_response(206)
            self.described(end + 1 - begin)
            self.send_header("Content-Range", f"bytes {begin}-{end}/{len(data)}")
            self.end_headers()
            if begin >= FIRST_RANGE:
                self.drip()
            else:
                self.wfile.write(data[begin : end + 1])

    def drip(self):
        """Sends next to nothing until the client leaves."""
        self.server.dripping.set()
        try:
            while True:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.01)
        except OSError:
            self.server.left.set()
            self.close_connection = True

    def cloud(self):
        """The credentials of a machine of the cloud."""
        if self.path.endswith("/security-credentials/"):
            self.answer(200, b"role")
            return
        keys = {"AccessKeyId": "KEYOFTHECLOUD", "SecretAccessKey": "secret", "Token": "t"}
        self.answer(200, json.dumps(keys | {"Expiration": "2099-01-01T00:00:00Z"}).encode())


@pytest.fixture
def server(monkeypatch):
    """A server of S3, which the environment names. Objects are by their paths."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.objects, server.seen = {}, []
    server.dripping, server.left = threading.Event(), threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def public(server, monkeypatch):
    """The same, without credentials."""
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    return server


@pytest.fixture(scope="module")
def native_bytes(tmp_path_factory):
    """A native trace of several ranges."""
    count = 700_000
    random = numpy.random.default_rng(3)
    table = pyarrow.table(
        {
            "file": pyarrow.array(["/a"] * count).dictionary_encode(),
            "offset_bytes": random.integers(0, 1 << 40, count, dtype="u8"),
            "length_bytes": random.integers(1, 1 << 20, count, dtype="u4"),
        }
    )
    data = nbuf.write_trace(table, tmp_path_factory.mktemp("native") / "a.parquet").read_bytes()
    assert len(data) > 2 << 20
    return data


def wait(event, process):
    end = time.monotonic() + PATIENCE_SECONDS
    while not event.wait(0.01) and process.poll() is None:
        assert time.monotonic() < end, "the server was not asked"


def interrupted(server, call, folder):
    """Calls in a process, with Ctrl-C while the server drips. Seconds to its exception, stages, and copies that are left."""
    script = f"""
        import json, os, signal, sys, threading, time
        import nbuf
        from nbuf import _nbuf
        sent, stages = [], []
        def send():
            sys.stdin.readline()
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=send).start()
        try:
            {call}
        except KeyboardInterrupt:
            print(time.perf_counter() - sent[0], flush=True)
        sys.stdin.readline()
        def copies():
            for number in os.listdir("/proc/self/fd"):
                try:
                    name = os.readlink("/proc/self/fd/" + number)
                except OSError:
                    continue
                if name.startswith(os.environ["TMPDIR"]):
                    yield name
        end = time.monotonic() + {PATIENCE_SECONDS}
        while list(copies()) and time.monotonic() < end:
            time.sleep(0.01)
        print(json.dumps([sorted(set(stages)), list(copies()), os.listdir(os.environ["TMPDIR"])]), flush=True)
        os._exit(0)
    """
    words = [sys.executable, "-c", textwrap.dedent(script)]
    environment = os.environ | {"TMPDIR": str(folder)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, env=environment, **pipes) as child:
        wait(server.dripping, child)
        time.sleep(0.1)
        child.stdin.write("\n")
        child.stdin.flush()
        seconds = child.stdout.readline()
        assert seconds, f"it was not interrupted: {child.stderr.read()}"
        # The library has left, too, and not only the caller.
        assert server.left.wait(PATIENCE_SECONDS)
        child.stdin.write("\n")
        child.stdin.flush()
        return float(seconds), *json.loads(child.stdout.readline())


def test_ctrl_c_ends_the_copy_of_a_native_object(public, native_bytes, tmp_path):
    public.objects["/b/slow.parquet"] = native_bytes
    call = "nbuf.curve('s3://b/slow.parquet', progress=lambda stage, done, all: stages.append((stage, all)))"
    seconds, stages, copies, named = interrupted(public, call, tmp_path)
    assert seconds < DEADLINE_SECONDS
    assert ["copying (MiB)", len(native_bytes) >> 20] in stages
    assert copies == [] and named == []


@pytest.mark.parametrize(
    "call",
    [
        "_nbuf.objects('s3://b/*.csv')",
        "nbuf.curve('s3://b/*.csv')",
        "nbuf.fleet('s3://b/d/', workers=1)",
    ],
)
def test_ctrl_c_ends_a_listing(public, call, tmp_path):
    seconds, *_ = interrupted(public, call, tmp_path)
    assert seconds < DEADLINE_SECONDS


def test_one_signal_ends_the_copy_of_the_program(public, native_bytes, tmp_path):
    path = os.environ.get("NBUF_PROGRAM")
    if not path or not os.path.exists(path):
        pytest.skip("no program was built: cargo build")
    public.objects["/b/slow.parquet"] = native_bytes
    words = [path, "-q", "curve", "s3://b/slow.parquet", "--json"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, env=environment, **pipes) as child:
        wait(public.dripping, child)
        if child.poll() is not None:
            error = child.stderr.read()
            assert "--features object-stores" in error, error
            pytest.skip("this program reads no objects")
        begin = time.perf_counter()
        child.send_signal(signal.SIGINT)
        output, error = child.communicate(timeout=PATIENCE_SECONDS)
        seconds = time.perf_counter() - begin
    assert child.returncode == 128 + signal.SIGINT, error
    assert error == "nbuf: interrupted before s3://b/slow.parquet was read: nbuf removed what it had copied\n"
    assert output == "" and seconds < DEADLINE_SECONDS
    assert os.listdir(tmp_path) == []


def test_missing_credentials_are_noticed_in_seconds(server, monkeypatch):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        # It takes connections, and never answers.
        silent.listen()
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        begin = time.monotonic()
        with pytest.raises(nbuf.Error, match="there are no credentials to read s3://b/x.csv") as raised:
            nbuf.curve("s3://b/x.csv")
        assert time.monotonic() - begin < CREDENTIALS_SECONDS
    text = str(raised.value)
    assert "AWS_ACCESS_KEY_ID" in text and "AWS_SKIP_SIGNATURE=true" in text and "\n" not in text
    assert server.seen == []


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """An environment without credentials of Azure and of Google."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in list(os.environ):
        if name.startswith(("AZURE_", "AZURITE_", "GOOGLE_", "SERVICE_ACCOUNT", "IDENTITY_")):
            monkeypatch.delenv(name)
    return monkeypatch


def test_missing_credentials_of_azure_are_noticed_in_seconds(bare):
    with pytest.raises(nbuf.Error, match="cannot reach the store of az://c/x.csv: .*AZURE_STORAGE_ACCOUNT_NAME"):
        nbuf.curve("az://c/x.csv")
    bare.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        bare.setenv("AZURE_MSI_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        begin = time.monotonic()
        with pytest.raises(nbuf.Error, match="there are no credentials to read az://c/x.csv") as raised:
            nbuf.curve("az://c/x.csv")
        assert time.monotonic() - begin < CREDENTIALS_SECONDS
    text = str(raised.value)
    assert "AZURE_STORAGE_ACCOUNT_KEY" in text and "AZURE_SKIP_SIGNATURE=true" in text and "\n" not in text


def test_missing_credentials_of_google_are_named(bare):
    with socket.socket() as closed:
        # Bound, and not listening: it refuses.
        closed.bind(("127.0.0.1", 0))
        for name in ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"):
            bare.setenv(name, f"127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(nbuf.Error, match="there are no credentials to read gs://b/x.csv") as raised:
            nbuf.curve("gs://b/x.csv")
    text = str(raised.value)
    assert "set GOOGLE_SERVICE_ACCOUNT" in text and "GOOGLE_SKIP_SIGNATURE=true" in text and "\n" not in text


def test_credentials_of_the_cloud_are_used(server, monkeypatch):
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", server.url)
    server.objects["/b/a.csv"] = b"0,R,0,4096,1\n0,R,4096,4096,2\n"
    trace = nbuf.read_trace("s3://b/a.csv", format="alibaba")
    assert nbuf.stat(trace).requests == 2
    asked = [seen for seen in server.seen if seen[1].startswith("/b/")]
    assert asked and all("KEYOFTHECLOUD" in authorization for _, _, authorization in asked)


def test_inputs_between_empty_ones_are_got_once(public):
    line = b"0,R,0,4096,1\n0,R,4096,4096,2\n"
    for name in "abcd":
        public.objects[f"/b/host=h/{name}.csv"] = line if name == "a" else b""
    names = [f"s3://b/host=h/{name}.csv" for name in "abcd"]
    with tempfile.TemporaryDirectory() as out:
        fleet = nbuf.fleet(names, by="host", format="alibaba", workers=1, out=os.path.join(out, "fleet"))
    assert fleet.is_whole
    assert [one["accesses"] for one in fleet.to_dict()["volumes"]] == [2]
    got = [urllib.parse.unquote(path) for method, path, _ in public.seen if method == "GET"]
    assert got == ["/b/host=h/a.csv"]
