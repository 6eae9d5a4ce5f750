"""A small server before a store: a line with a key, a line with the length of its value.

serve.py STORE FOLDER SOCKET KEYS fill   makes the data
serve.py STORE FOLDER SOCKET KEYS        serves it
"""

import os
import random
import socketserver
import sqlite3
import sys

store, folder, path, keys, *fill = sys.argv[1:]
keys = int(keys)
VALUE = 1000


def values():
    draw = random.Random(1)
    return ((key, draw.randbytes(VALUE)) for key in range(keys))


def lmdb():
    import lmdb

    env = lmdb.open(f"{folder}/lmdb", map_size=1 << 30, readonly=not fill)
    if fill:
        with env.begin(write=True) as all:
            for key, value in values():
                all.put(key.to_bytes(8, "big"), value, append=True)
        return None

    def get(key):
        with env.begin() as now:
            return now.get(key.to_bytes(8, "big"))

    return get


def sqlite():
    db = sqlite3.connect(f"{folder}/db", check_same_thread=False)
    db.execute("PRAGMA mmap_size=1073741824")
    db.execute("PRAGMA cache_size=16")
    if fill:
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)")
        db.executemany("INSERT INTO t VALUES (?, ?)", values())
        db.commit()
        return None
    return lambda key: db.execute("SELECT v FROM t WHERE id = ?", (key,)).fetchone()[0]


def rocksdb():
    from rocksdict import BlockBasedOptions, Cache, DBCompressionType, Options, Rdict

    options, table = Options(raw_mode=True), BlockBasedOptions()
    table.set_block_cache(Cache(4 << 20))
    options.set_block_based_table_factory(table)
    options.set_compression_type(DBCompressionType.none())
    db = Rdict(f"{folder}/rocksdb", options)
    if fill:
        for key, value in values():
            db[key.to_bytes(8, "big")] = value
        db.flush()
        db.compact_range(None, None)
        db.close()
        return None
    return lambda key: db[key.to_bytes(8, "big")]


get = {"lmdb": lmdb, "sqlite": sqlite, "rocksdb": rocksdb}[store]()


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"%d\n" % len(get(int(line))))


if not fill:
    if os.path.exists(path):
        os.remove(path)
    socketserver.ThreadingUnixStreamServer(path, Lines).serve_forever()
