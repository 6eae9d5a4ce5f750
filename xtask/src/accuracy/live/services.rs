//! The services, their data and their loads. Scripts of sh: `$D` is a folder for data on the disc of the harness,
//! `$W` one elsewhere, for sockets and counters, and `$H` has the sources of the servers and loads.

/// A service that is watched and limited.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) name: &'static str,
    /// Whether it reads through mappings, of which less is known.
    pub(super) is_mapped: bool,
    /// Whether it reads its files at all.
    pub(super) reads: bool,
    /// Programs that it needs, and modules of Python.
    pub(super) programs: &'static [&'static str],
    pub(super) modules: &'static [&'static str],
    /// Makes its data.
    pub(super) data: &'static str,
    /// Becomes the service.
    pub(super) serve: &'static str,
    /// Warms it, and becomes the load.
    pub(super) load: &'static str,
    /// Prints how many operations the load has done.
    pub(super) operations: &'static str,
}

const COUNTER: &str = "cat $W/operations 2>/dev/null || echo 0";

const READS: Service = Service {
    name: "",
    is_mapped: false,
    reads: true,
    programs: &["python3"],
    modules: &[],
    data: "true",
    serve: "true",
    load: "true",
    operations: COUNTER,
};

pub(super) const SERVICES: [Service; 8] = [
    Service {
        name: "postgresql",
        programs: &["pg_config", "pgbench", "setpriv"],
        data: "bin=$(pg_config --bindir); mkdir $D/pg && chown 65534:65534 $D/pg $W &&
            run() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ PATH=$bin:$PATH \"$@\"; }
            cd $W && run initdb -D $D/pg -U n >/dev/null &&
            run pg_ctl -D $D/pg -w -l $D/pg/log -o \"-k $W -c listen_addresses=\" start >/dev/null &&
            run pgbench -h $W -U n -i -s 6 -q postgres 2>/dev/null &&
            run psql -h $W -U n -q postgres -c 'vacuum freeze' -c checkpoint &&
            run pg_ctl -D $D/pg -m fast -w stop >/dev/null",
        serve: "bin=$(pg_config --bindir); cd $W
            exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ PATH=$bin:$PATH \
                postgres -D $D/pg -k $W -c listen_addresses= -c shared_buffers=2MB -c autovacuum=off",
        load: "cd $W; for i in $(seq 100); do psql -h $W -U n -q postgres -c '' 2>/dev/null && break; sleep 0.1; done
            printf '\\\\set a random(1, 600000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :a;\n' >even.sql
            printf '\\\\set r random_zipfian(1, 600000, 1.1)\n\\\\set a permute(:r, 600000, 7) + 1\n' >skew.sql
            printf 'SELECT abalance FROM pgbench_accounts WHERE aid = :a;\n' >>skew.sql
            pgbench -h $W -U n -n -f even.sql -t 40000 postgres >even.log 2>&1
            exec setpriv --pdeathsig KILL pgbench -h $W -U n -n -f skew.sql -M prepared -l -R 1500 -T 100000 postgres",
        operations: "cat $W/pgbench_log.* 2>/dev/null | wc -l",
        ..READS
    },
    Service {
        name: "redis",
        reads: false,
        programs: &["python3", "redis-server"],
        serve: "exec redis-server --port 0 --unixsocket $W/socket --dir $D --save '' --appendonly yes",
        load: "exec setpriv --pdeathsig KILL $PYTHON $H/load.py redis $W/socket 20000 0.8 1000 $W/operations 1",
        ..READS
    },
    Service {
        name: "mariadb",
        programs: &["python3", "mariadbd", "mariadb", "mariadb-install-db"],
        data: "mariadb-install-db --no-defaults --user=root --datadir=$D/my --auth-root-authentication-method=normal \
                --skip-test-db >/dev/null
            mariadbd --no-defaults --user=root --datadir=$D/my --socket=$W/socket --skip-networking 2>/dev/null &
            for i in $(seq 300); do mariadb-admin -S $W/socket -u root ping >/dev/null 2>&1 && break; sleep 0.1; done
            mariadb -S $W/socket -u root -e \"CREATE DATABASE n; USE n;
                CREATE TABLE t(id INT PRIMARY KEY, v VARBINARY(900));
                INSERT INTO t SELECT seq, RPAD(SHA2(seq, 512), 900, 'x') FROM seq_1_to_80000\" &&
            mariadb-admin -S $W/socket -u root shutdown && wait",
        serve: "exec mariadbd --no-defaults --user=root --datadir=$D/my --socket=$W/socket --skip-networking \
                --innodb-buffer-pool-size=8M --innodb-flush-method=fsync --innodb-buffer-pool-load-at-startup=OFF",
        load: "exec setpriv --pdeathsig KILL $PYTHON $H/load.py sql $W/socket 80000 0.8 1000 $W/operations 4",
        ..READS
    },
    Service {
        name: "jvm",
        is_mapped: true,
        programs: &["javac", "java"],
        data: "javac -d $D $H/Mapped.java && head -c 80M /dev/urandom >$D/file",
        serve: "exec java -Xmx48m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp $D Mapped $D/file 3000 $W/operations",
        ..READS
    },
    Service {
        name: "nginx",
        programs: &["python3", "nginx"],
        data: "for i in $(seq 0 2499); do mkdir -p $D/www/$((i % 64)) &&
                head -c 32K /dev/urandom >$D/www/$((i % 64))/$i || exit; done",
        serve: "cat >$W/nginx.conf <<END
daemon off; user root; worker_processes 1; error_log $W/error.log; pid $W/pid;
events { worker_connections 64; }
http { access_log off; sendfile on; keepalive_requests 1000000000;
    server { listen unix:$W/socket; root $D/www; } }
END
            exec nginx -p $W -c $W/nginx.conf",
        load: "exec setpriv --pdeathsig KILL $PYTHON $H/load.py http $W/socket 2500 0.8 500 $W/operations 1",
        ..READS
    },
    Service {
        name: "rocksdb",
        modules: &["rocksdict"],
        data: "$PYTHON $H/serve.py rocksdb $D $W/socket 80000 fill",
        serve: "exec $PYTHON $H/serve.py rocksdb $D $W/socket 80000",
        load: "exec setpriv --pdeathsig KILL $PYTHON $H/load.py line $W/socket 80000 0.8 2000 $W/operations 2",
        ..READS
    },
    Service {
        name: "sqlite",
        is_mapped: true,
        data: "$PYTHON $H/serve.py sqlite $D $W/socket 80000 fill",
        serve: "exec $PYTHON $H/serve.py sqlite $D $W/socket 80000",
        load: "exec setpriv --pdeathsig KILL $PYTHON $H/load.py line $W/socket 80000 0.8 2000 $W/operations 2",
        ..READS
    },
    Service {
        name: "lmdb",
        is_mapped: true,
        modules: &["lmdb"],
        data: "$PYTHON $H/serve.py lmdb $D $W/socket 80000 fill",
        serve: "exec $PYTHON $H/serve.py lmdb $D $W/socket 80000",
        load: "exec setpriv --pdeathsig KILL $PYTHON $H/load.py line $W/socket 80000 0.8 2000 $W/operations 2",
        ..READS
    },
];
