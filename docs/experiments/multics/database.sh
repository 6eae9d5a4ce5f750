#!/bin/sh
# Makes the database of database.toml in an empty directory: pgbench at scale 8, some 130 MiB. As root.
set -eu
programs=/usr/lib/postgresql/15/bin
here=$(realpath "$1")
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env LC_ALL=C "$@"; }
chown postgres "$here"
cd "$here"
as_postgres "$programs/initdb" -D data -A trust -U postgres -N
cat >>data/postgresql.conf <<SETTINGS
listen_addresses = ''
unix_socket_directories = '$here'
shared_buffers = 16MB
max_connections = 60
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
SETTINGS
as_postgres "$programs/pg_ctl" -D data -l log -w start
as_postgres "$programs/pgbench" -h "$here" -i -s 8 -q postgres
as_postgres "$programs/pg_ctl" -D data -m fast stop
