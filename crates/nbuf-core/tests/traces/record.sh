#!/bin/sh
# Records the traces of this folder and the kernel counts that go with them, on a private loop
# device whose readahead is set for each. Needs root, sqlite3, python3, mkfs.ext4 and a release
# build of nbuf, whose path is the argument. Writes into a folder that it makes and prints.
set -eu
nbuf=$(realpath "$1")
out=$(mktemp -d)
work=$(mktemp -d)
device=
finish() {
    cd /
    mountpoint -q "$work/disc" && umount "$work/disc"
    [ -z "$device" ] || losetup -d "$device"
    rm -rf "$work"
}
trap finish EXIT INT TERM
mkdir "$work/disc"
truncate -s 300M "$work/image"
mkfs.ext4 -q -E nodiscard "$work/image"
device=$(losetup --show -f --direct-io=on "$work/image")
mount "$device" "$work/disc"
cd "$work/disc"

# A database of about 40 MiB, skewed lookups by an index, and a few range scans.
python3 - <<'PY'
import random, sqlite3
rows, queries = 180_000, 12_000
r = random.Random(1)
c = sqlite3.connect("q.db")
c.execute("create table t(id integer primary key, k text, v blob)")
key = lambda i: "key%08d" % (i * 7919 % rows)
c.executemany("insert into t values(?,?,?)", ((i, key(i), r.randbytes(180)) for i in range(rows)))
c.execute("create index tk on t(k)")
c.commit()
with open("q.sql", "w") as f:
    for i in range(queries):
        if i % (queries // 10) == 0:
            a = int(rows * r.random())
            f.write("select sum(length(v)) from t where id between %d and %d;\n" % (a, a + rows // 50))
        f.write("select length(v) from t where k='%s';\n" % key(int(rows * r.random() ** 3)))
PY
mkdir tree
cp -r /usr/include/* tree/ 2>/dev/null || true
sync -f .

at=100%,75%,50%,25%
readahead() { echo "$1" > "/sys/block/$(basename "$device")/queue/read_ahead_kb"; }
record() {
    name=$1
    shift
    "$nbuf" size --yes --json --verify-at $at -o "$out/$name.parquet" -- "$@" > "$out/$name.json" || true
}
for kib in 0 128 2560; do
    readahead $kib
    record sqlite-$kib sh -c 'sqlite3 q.db < q.sql > /dev/null'
done
readahead 128
record grep-128 sh -c 'grep -r nowhere tree; grep -r nowhere tree; true'
# The test needs no more of the report than this.
python3 - "$out" <<'PY'
import glob, json, sys
for path in glob.glob(sys.argv[1] + "/*.json"):
    report = json.load(open(path))
    kept = {key: report[key] for key in ("schema", "command", "memory", "shared", "verify")}
    run = ("limit_bytes", "measured_fills", "measured_cache_bytes", "killed")
    kept["verify"] = [{key: v[key] for key in run} for v in kept["verify"]]
    with open(path, "w") as f:
        f.write(json.dumps(kept, separators=(",", ":")) + "\n")
PY
echo "$out"
