"""Inputs in object stores: what is read there is what is read from files. The stores are emulators on this machine."""

import gzip
import importlib.util
import json
import os
import random
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import nbuf
import pytest
from nbuf import _nbuf

# Ten times what a slow machine takes.
DEADLINE_SECONDS = 120
# A file of more than one round of ranges, and one of a part of the first.
LARGE_ACCESSES, SMALL_ACCESSES = 900_000, 3000
VARIABLES = ("AWS_", "AZURE_", "AZURITE_", "GOOGLE_", "SERVICE_ACCOUNT")
# What no plan may have; the other stores of the tests have none in the environment.
SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def skip(reason):
    """A line says that it is skipped."""
    if log := os.environ.get("NBUF_SKIP_LOG"):
        with open(log, "a") as file:
            print(reason, file=file)
    pytest.skip(reason)


def free_port():
    """A port that neither the kernel nor Ray gives to a test of a fleet before an emulator binds it."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        end = int(file.read().split()[0])
    # Ray's workers take ports below 20,000.
    ports = range(20_000, end)
    # If all of them are the kernel's, it chooses one.
    for port in [*random.sample(ports, len(ports)), 0]:
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return one.getsockname()[1]
    raise AssertionError("no port is free")


def wait_for(port, process):
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, "the emulator has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the emulator does not answer")


class Aws:
    """S3, by moto."""

    def __init__(self, _folder):
        if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
            skip("no emulator of S3: pip install 'moto[server,s3]'")
        from moto.server import ThreadedMotoServer

        self.port = free_port()
        self.server = ThreadedMotoServer("127.0.0.1", self.port)
        self.server.start()
        self.url = "s3://traces"
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }

    def client(self):
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            aws_access_key_id="someone",
            aws_secret_access_key="secret",
            region_name="us-east-1",
        )

    def make(self):
        self.client().create_bucket(Bucket="traces")

    def put(self, key, data):
        self.client().put_object(Bucket="traces", Key=key, Body=data)

    def stop(self):
        self.server.stop()


class Azure:
    """Azure Blob Storage, by Azurite."""

    def __init__(self, folder):
        azurite = shutil.which("azurite-blob")
        if azurite is None or shutil.which("node") is None or importlib.util.find_spec("azure") is None:
            skip("no emulator of Azure: npm install -g azurite, pip install azure-storage-blob")
        self.port = free_port()
        words = [azurite, "--blobHost", "127.0.0.1", "--blobPort", str(self.port), "--silent"]
        words += ["--skipApiVersionCheck", "--location", str(folder), "--disableTelemetry"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        self.url = "az://traces"
        self.environment = {
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{self.port}",
        }

    def container(self):
        from azure.storage.blob import ContainerClient

        # The account of every Azurite, which its manual prints.
        account = "devstoreaccount1"
        key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
        url = f"http://127.0.0.1:{self.port}/{account}"
        return ContainerClient(url, "traces", credential={"account_name": account, "account_key": key})

    def make(self):
        self.container().create_container()

    def put(self, key, data):
        self.container().upload_blob(key, data, overwrite=True)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Google:
    """Google Cloud Storage, by fake-gcs-server."""

    def __init__(self, folder):
        server = shutil.which("fake-gcs-server")
        if server is None:
            skip("no emulator of Google Cloud Storage: go install github.com/fsouza/fake-gcs-server@latest")
        self.port = free_port()
        self.at = f"http://127.0.0.1:{self.port}"
        words = [server, "-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port)]
        words += ["-backend", "memory", "-public-host", f"127.0.0.1:{self.port}", "-external-url", self.at]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        self.url = "gs://traces"
        self.environment = {"GOOGLE_BASE_URL": self.at, "GOOGLE_SKIP_SIGNATURE": "true"}

    def post(self, path, data, kind):
        request = urllib.request.Request(self.at + path, data, {"Content-Type": kind})
        urllib.request.urlopen(request, timeout=DEADLINE_SECONDS).read()

    def make(self):
        self.post("/storage/v1/b?project=p", b'{"name": "traces"}', "application/json")

    def put(self, key, data):
        name = urllib.parse.quote(key, safe="")
        self.post(f"/upload/storage/v1/b/traces/o?uploadType=media&name={name}", data, "application/octet-stream")

    def stop(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of traces: texts, packed and native, of hosts too."""
    folder = tmp_path_factory.mktemp("stores")
    nbuf.generate("zipf", folder / "small.oracleGeneral", accesses=SMALL_ACCESSES, pages=500, seed=1)
    nbuf.generate("zipf", folder / "large.oracleGeneral", accesses=LARGE_ACCESSES, pages=9000, seed=2)
    text = "".join(f"0,R,{page * 4096},4096,{page}\n" for page in list(range(400)) * 3)
    (folder / "text.csv").write_text(text)
    nbuf.write_trace(nbuf.read_trace(folder / "text.csv", format="alibaba"), folder / "small.parquet")
    (folder / "text.csv.gz").write_bytes(gzip.compress(text.encode()))
    for host in ("a b", "c"):
        below = folder / f"host={urllib.parse.quote(host)}"
        below.mkdir()
        (below / "one.csv").write_text(text)
    (folder / "notes.txt").write_text("\n")
    (folder / ".hidden.csv").write_text(text)
    return folder


@pytest.fixture(scope="module", params=[Aws, Azure, Google])
def store(request, files, tmp_path_factory):
    """A store with these files in the folder `d`."""
    store = request.param(tmp_path_factory.mktemp("emulator"))
    kept = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
    for name in kept:
        del os.environ[name]
    os.environ.update(store.environment)
    try:
        store.make()
        for path in files.rglob("*"):
            if path.is_file():
                store.put(f"d/{path.relative_to(files)}", path.read_bytes())
        yield store
    finally:
        for name in store.environment:
            os.environ.pop(name, None)
        os.environ.update(kept)
        store.stop()


def points(source, format="auto"):
    trace = nbuf.read_trace(source, format=format)
    curves = nbuf.curve(trace, policy=["lru", "opt"], sizes=["50p", "200p", "400p"])
    return [[(one["pages"], one["misses"]) for one in curve["points"]] for curve in curves.to_dict()["curves"]]


def volumes(fleet):
    """What was counted of each volume, by the end of its name."""
    kept = ("accesses", "distinct_pages", "hit_pages", "knee_pages")
    return {os.path.basename(one["name"]): [one.get(key) for key in kept] for one in fleet.to_dict()["volumes"]}


def test_an_object_is_read_as_its_file(store, files):
    for name, format in [
        ("small.oracleGeneral", "auto"),
        ("large.oracleGeneral", "auto"),
        ("small.parquet", "auto"),
        ("text.csv", "alibaba"),
        ("text.csv.gz", "alibaba"),
    ]:
        assert points(f"{store.url}/d/{name}", format) == points(files / name, format), name


def test_a_pattern_and_a_space_in_a_name(store, files):
    found = nbuf.read_trace(f"{store.url}/d/host=*/*.csv", format="alibaba")
    # Objects keep the name that they were given: `%20` stays.
    assert found.files == [f"{store.url}/d/host=a%20b/one.csv", f"{store.url}/d/host=c/one.csv"]
    assert points(found) == points(sorted(files.glob("host=*/*.csv")), "alibaba")


def test_a_fleet_of_objects_is_that_of_their_files(store, files, tmp_path):
    wanted = ["large.oracleGeneral", "small.oracleGeneral", "small.parquet"]
    local = nbuf.fleet([files / name for name in wanted], workers=1)
    out = tmp_path / "out"
    inputs = [f"{store.url}/d/{name}" for name in wanted]
    fleet = nbuf.fleet(inputs, workers=2, out=out, split="time:3")
    assert fleet.is_whole and volumes(fleet) == volumes(local)
    # Workers have the credentials of their own environment.
    plan = (out / "tasks.jsonl").read_text()
    assert store.url in plan
    assert not [one for name, one in store.environment.items() if name in SECRETS and one in plan]
    # What is done is not read again: the store need not be there.
    rows = {path: path.stat().st_mtime_ns for path in (out / "rows").iterdir()}
    nbuf.fleet(inputs, workers=2, out=out, split="time:3")
    assert {path: path.stat().st_mtime_ns for path in (out / "rows").iterdir()} == rows


def test_a_folder_is_its_traces(store):
    fleet = nbuf.fleet(f"{store.url}/d/", workers=1)
    found = volumes(fleet)
    assert {"large.oracleGeneral", "small.parquet", "text.csv.gz"} <= set(found)
    assert not {".hidden.csv"} & set(found)
    hosts = nbuf.fleet(f"{store.url}/d/host=*/one.csv", by="host", format="alibaba", workers=1)
    assert sorted(volumes(hosts)) == ["a b", "c"]


def test_a_replaced_object_is_no_longer_the_planned_one(store, tmp_path):
    store.put("d/late.csv", b"0,R,0,4096,1\n0,R,4096,4096,2\n")
    out = tmp_path / "out"
    name = f"{store.url}/d/late.csv"
    first = nbuf.fleet(name, workers=1, out=out, format="alibaba")
    assert first.is_whole
    store.put("d/late.csv", b"0,R,0,4096,1\n0,R,4096,4096,3\n0,R,0,4096,4\n")
    second = nbuf.fleet(name, workers=1, out=out, format="alibaba")
    assert [one[0] for one in volumes(second).values()] == [3]


def test_an_object_that_was_replaced_after_the_plan_fails_its_task(store, tmp_path):
    name, out = f"{store.url}/d/planned.csv", tmp_path / "out"
    store.put("d/planned.csv", b"0,R,0,4096,1\n0,R,4096,4096,2\n")
    spec = {"inputs": [name], "out": str(out), "format": "alibaba", "workers": 1}
    spec |= {"by": "file", "page_bytes": 4096, "split": "auto", "memory": None}
    _nbuf.fleet_plan(json.dumps(spec | {"policies": [], "policy_size": "10%", "until": None}))
    (_, row), = _nbuf.fleet_left(out / "tasks.jsonl")
    # Of the same length, and within the same second.
    store.put("d/planned.csv", b"0,R,0,4096,1\n0,R,8192,4096,2\n")
    assert "has changed since the plan" in _nbuf.fleet_work(str(out), row)


def test_marks_of_folders_are_no_inputs(store):
    if not store.url.startswith("s3:"):
        pytest.skip("only S3's emulator has keys that end with a slash")
    for key in ("m/", "m/below/"):
        store.put(key, b"")
    store.put("m/one.csv", b"0,R,0,4096,1\n0,R,4096,4096,2\n")
    for name in ("m", "m/", "m/**"):
        fleet = nbuf.fleet(f"{store.url}/{name}", workers=1, format="alibaba")
        assert fleet.is_whole and list(volumes(fleet)) == ["one.csv"], name


def test_what_cannot_be_had_is_said_in_a_line(store, tmp_path):
    for name, want in [
        (f"{store.url}/d/absent.csv", "there is no object"),
        (f"{store.url}/none/", "there is no object"),
        (f"{store.url}/d/*.none", "there is no object"),
        ("s3:///x", "names no object"),
        (f"{store.url}//x", "names no object"),
        # This emulator of Google's answers that it has a defect itself.
        (f"{store.url}-that-is-not-there/x/", "cannot read" if "gs:" in store.url else "there is no object"),
    ]:
        with pytest.raises(nbuf.Error, match=want) as raised:
            nbuf.fleet(name, workers=1, out=tmp_path / "none")
        assert "\n" not in str(raised.value)
    with pytest.raises(nbuf.Error, match="there is no object"):
        nbuf.curve(f"{store.url}/d/absent.csv")


def test_a_store_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    began = time.monotonic()
    with pytest.raises(nbuf.Error, match="cannot read s3://elsewhere/x.csv: ") as raised:
        nbuf.curve("s3://elsewhere/x.csv")
    assert "refused" in str(raised.value).lower()
    assert "\n" not in str(raised.value) and time.monotonic() - began < DEADLINE_SECONDS


def test_the_program_reads_objects_or_says_how_to_get_one_that_does(store, files):
    path = os.environ.get("NBUF_PROGRAM")
    if not path or not os.path.exists(path):
        skip("no program was built: cargo build")
    words = [path, "-q", "curve", "--json", "--policy", "lru", "--size", "50p"]
    ran = subprocess.run([*words, f"{store.url}/d/small.parquet"], capture_output=True, text=True)
    if "--features object-stores" in ran.stderr:
        assert ran.returncode == 125, ran.stderr
        return
    want = subprocess.run([*words, files / "small.parquet"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["curves"] == json.loads(want.stdout)["curves"]
