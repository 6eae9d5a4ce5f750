"""A skewed load at a steady rate: load.py PROTOCOL ADDRESS KEYS SKEW RATE COUNTER STRIDE

First each STRIDE-th key once, in random order and as fast as it goes; then COUNTER has the operations so far.
"""

import itertools
import os
import random
import socket
import subprocess
import sys
import time

protocol, address, keys, skew, rate, counter, stride = sys.argv[1:]
keys, skew, rate, stride = int(keys), float(skew), float(rate), int(stride)


def connected():
    for _ in range(300):
        try:
            if ":" in address:
                host, port = address.split(":")
                return socket.create_connection((host, int(port)))
            to = socket.socket(socket.AF_UNIX)
            to.connect(address)
            return to
        except OSError:
            time.sleep(0.1)
    sys.exit(f"no answer at {address}")


def line():
    stream = connected().makefile("rwb")

    def ask(key):
        stream.write(b"%d\n" % key)
        stream.flush()
        assert int(stream.readline()) > 0

    return ask


def http():
    stream = connected().makefile("rwb")

    def ask(key):
        stream.write(b"GET /%d/%d HTTP/1.1\r\nHost: n\r\n\r\n" % (key % 64, key))
        stream.flush()
        assert b" 200 " in stream.readline()
        length = 0
        while (head := stream.readline()) != b"\r\n":
            if head.lower().startswith(b"content-length:"):
                length = int(head.split(b":")[1])
        assert len(stream.read(length)) == length

    return ask


def redis():
    stream = connected().makefile("rwb")
    value, done = os.urandom(1000), itertools.count()

    def tell(*words):
        stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words))
        stream.flush()
        return stream.readline()

    def ask(key):
        assert tell(b"SET", b"key:%08d" % key, value) == b"+OK\r\n"
        # Often enough that each measurement has several.
        if next(done) % 2500 == 2499:
            tell(b"BGREWRITEAOF")

    return ask


def sql():
    for _ in range(300):
        if os.path.exists(address):
            break
        time.sleep(0.1)
    client = subprocess.Popen(
        ["mariadb", "-S", address, "-u", "root", "-N", "-B", "--unbuffered", "n"], stdin=-1, stdout=-1
    )

    def ask(key):
        client.stdin.write(b"SELECT LENGTH(v) FROM t WHERE id = %d;\n" % (key + 1))
        client.stdin.flush()
        assert int(client.stdout.readline()) > 0

    return ask


ask = {"line": line, "http": http, "redis": redis, "sql": sql}[protocol]()
order = list(range(keys))
random.Random(7).shuffle(order)
for key in order[::stride]:
    ask(key)
weights = list(itertools.accumulate((rank + 1) ** -skew for rank in range(keys)))
draw, done, began = random.Random(11), 0, time.monotonic()
to = os.open(counter, os.O_WRONLY | os.O_CREAT, 0o644)
while True:
    for key in draw.choices(order, cum_weights=weights, k=1000):
        ask(key)
        done += 1
        if done % 10 == 0:
            os.pwrite(to, b"%016d" % done, 0)
            ahead = done / rate - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -1:
                # It has waited: what it has not asked for is not made up for.
                began -= ahead
