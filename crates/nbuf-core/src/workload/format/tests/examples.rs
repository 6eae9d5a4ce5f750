//! An example of every format, written after its description, and the requests that it holds.

/// `NAME[:PARAMETERS]`, the input, and its requests: `time_ns object ask offset+length task`, with lifetime (ms) and cost where
/// there are any.
pub(super) struct Example {
    pub(super) format: &'static str,
    pub(super) input: Vec<u8>,
    pub(super) want: &'static str,
}

fn text(format: &'static str, input: &str, want: &'static str) -> Example {
    Example { format, input: input.as_bytes().to_vec(), want }
}

fn binary(format: &'static str, parts: &[&[u8]], want: &'static str) -> Example {
    Example { format, input: parts.concat(), want }
}

/// All examples.
pub(super) fn all() -> Vec<Example> {
    let mut all = block_tables();
    all.extend(key_texts());
    all.extend(server_logs());
    all.extend(recordings());
    all.extend(packed_keys());
    all.extend(packed_blocks());
    all
}

fn block_tables() -> Vec<Example> {
    vec![
        text(
            "msr",
            "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,0,Write,2822144000,4096,4194",
            "1172163600306162900 hm.1 Read 383496192+32768 0\n1172163601638215500 hm.0 Write 2822144000+4096 0\n",
        ),
        text(
            "alibaba",
            "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
            "1577808144360767000 419 Write 8792731648+16384 0\n1577808144360813000 725 Read 59110326272+360448 0\n",
        ),
        text(
            "tencent",
            "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n",
            "1538323200000000000 1063 Read 6610407424+65536 0\n1538323200000000000 1627 Write 3245408256+4096 0\n",
        ),
        text(
            "systor",
            "Timestamp,Response,IOType,LUN,Offset,Size\r\n1455592201.000012000,0.000375,R,2,2087264256,512\r\n\
             1455592201.5,,,2,0,512\r\n1455592202.000000001,0.001,W,3,512,8192\r\n",
            "1455592201000012000 2 Read 2087264256+512 0\n1455592202000000001 3 Write 512+8192 0\n",
        ),
        text(
            "spc",
            "0,20941264,8192,W,0.551706\n1, 3, 777, r, 12.000001, x\n",
            "551706000 0 Write 10721927168+8192 0\n12000001000 1 Read 1536+777 0\n",
        ),
        text(
            "k5cloud",
            "0,1275000,R,4096,512\nvol9,1275001,W,8192,1024\n",
            "0 0 Read 4096+512 0\n0 vol9 Write 8192+1024 0\n",
        ),
        text(
            "mqsim",
            "938513000 4 264719034 16 0\n938828000 3 197570570 8 1\n",
            "938513000 4 Write 135536145408+8192 0\n938828000 3 Read 101156131840+4096 0\n",
        ),
        text(
            "fiu",
            "89966104233024 4892 syslogd 904265560 8 W 6 0 0531e35bf0cd4ab1\n89966104233025 7 x 8 16 R 8 1 00",
            "89966104233024 6,0 Write 462983966720+4096 4892\n89966104233025 8,1 Read 4096+8192 7\n",
        ),
        text(
            "etw",
            "BeginHeader\n   DiskRead, TimeStamp, Process Name ( PID), ThreadID, ...\nEndHeader\n\
             OS Version: 6.1\n   DiskRead,      77, System ( 4),  36, 0xfffffa80, 0x0000001000, 0x00002000, 912, 1, 0x43\n\
             DiskWrite,      78, a.exe (12), 40, 0x0, 0x200, 0x200, 1, 0, 0x0\n  FileIoRead, 79, x\n",
            "77000 1 Read 4096+8192 36\n78000 0 Write 512+512 40\n",
        ),
        text(
            "tectonic",
            "# block_id io_offset io_size op_time op user_namespace user_name rs_shard_id\n\
             7 131072 4096 1234.5 1 0 9 0\n8 0 65536 1235 4 0 9 0 1 host\n",
            "1234500000000 7 Read 131072+4096 0\n1235000000000 8 Write 0+65536 0\n",
        ),
        text("arc", "1 1 0 0\n264 8 0 1\n", "0 - Read 512+512 0\n0 - Read 135168+4096 0\n"),
    ]
}

fn key_texts() -> Vec<Example> {
    vec![
        text("lirs", "17\n*\n\n 4 \n17", "0 - Read 17+0 0\n0 - Read 4+0 0\n0 - Read 17+0 0\n"),
        text(
            "keys",
            "17\nuser:1\n17\n",
            "0 - Read 17+0 0\n0 - Read #user:1+0 0\n0 - Read 17+0 0\n",
        ),
        text(
            "twitter",
            "0,q:q:1:8WTfjZU14ee,17,213,4,get,0\n1,123,3,5,9,set,60\n2,k k,3,0,9,delete,0\n",
            "0 - Read #q:q:1:8WTfjZU14ee+230 4\n1000000000 - Write 123+8 9 lives 60000\n2000000000 - Discard #k k+3 9\n",
        ),
        text(
            "wikimedia",
            "relative_unix\thashed_path_query\timage_type\tresponse_size\ttime_firstbyte\n\
             0\t-1134\tjpeg\t3000\t0.5\n7\t99\tpng\t10\t0.000085\n",
            "0 - Read #-1134+3000 0\n7000000000 - Read 99+10 0\n",
        ),
        text(
            "metaKV",
            "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n\
             5,12,8,GET,2,100,2,0,a,b\n6,ab,2,SET_LEASE,1,0,0,30,a,b\n7,12,8,DELETE,0,0,0,0,a,b\n",
            "5000000000 - Read 12+108 0\n5000000000 - Read 12+108 0\n6000000000 - Write #ab+2 0 lives 30000\n",
        ),
        text(
            "metaKV",
            "key,op,size,op_count,key_size\n9,GET,5,1,3\n9,DELETE,0,1,3\n",
            "0 - Read 9+8 0\n0 - Discard 9+3 0\n",
        ),
        text(
            "metaKV",
            "9,GET,0,1,3\n9,SET_LEASE,5,1,3,60\n9,GET_LEASE,0,2,3,\n9,GET,7,0,3\n9,DELETE,0,1,3",
            "0 - Read 9+3 0\n0 - Write 9+8 0 lives 60000\n2 times 0 - Read 9+8 0\n0 - Discard 9+3 0\n",
        ),
        text(
            "csv",
            "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,4096,7\n",
            "5633898000000000 - Write 42932745+512 0\n5633899000000000 - Read 7+4096 0\n",
        ),
        text(
            "csv",
            "# time, object, size, next_access_vtime\n0, 13053225291711363978, 737, 13\n1.5, abc, 1, 2\n",
            "0 - Read 13053225291711363978+737 0\n1500000000 - Read #abc+1 0\n",
        ),
        text(
            "csv:offset=2,size=3,op=1,object=4,task=5,time=6,time-unit=us,offset-unit=sectors,separator=semicolon",
            "W;8;16;sda;7;1\ntrim;1;1;sdb;8;2.5\nflush;0;0;sda;7;3\n",
            "1000 sda Write 4096+8192 7\n2500 sdb Discard 512+512 8\n3000 sda Flush 0+0 7\n",
        ),
        text(
            "csv:key=id,time=at,ttl=ttl,cost=price,time-unit=ms",
            "id,at,ttl,price\n1,5,250,0.5\n2,6,,3\n2,7,-1,1e3\n2,8,0.5,0\n",
            "5000000 - Read 1+0 0 lives 250 costs 0.5\n6000000 - Read 2+0 0 costs 3\n\
             7000000 - Read 2+0 0 costs 1000\n8000000 - Read 2+0 0 lives 1\n",
        ),
        text(
            "csv:key=block,separator=tab",
            "skipped\tblock\tmore\nx\t5\ty\nx\tblock five\ty\n",
            "0 - Read 5+0 0\n0 - Read #block five+0 0\n",
        ),
    ]
}

const NGINX: &str = r#"::1 - - [25/Nov/2026:20:30:01 +0000] "GET /a?b HTTP/1.1" 200 512 "-" "curl/8"
10.0.0.1 - bob [25/Nov/2026:21:30:02 +0100] "HEAD /a?b HTTP/2.0" 200 0 "-" "x \x22y"
10.0.0.1 - - [25/Nov/2026:20:30:03 +0000] "GET /a?b HTTP/1.1" 304 0 "-" "-" "for 1.2.3.4"
10.0.0.1 - - [25/Nov/2026:20:30:04 +0000] "GET /a?b HTTP/1.1" 206 100 "-" "-"
10.0.0.1 - - [25/Nov/2026:20:30:05 +0000] "POST /a?b HTTP/1.1" 200 9 "-" "-"
10.0.0.1 - - [25/Nov/2026:20:30:05 +0000] "\x16\x03\x01" 400 150 "-" "-"
10.0.0.1 - - [25/Nov/2026:20:30:05 +0000] "GET /b HTTP/1.1" 404 153 "-" "-"
10.0.0.1 - - [25/Nov/2026:20:30:05 +0000] "HEAD /b HTTP/1.1" 200 0 "-" "-"
10.0.0.1 - - [25/Nov/2026:20:30:06 +0000] "PURGE /a?b HTTP/1.1" 204 0 "-" "-"
"#;

const NGINX_CACHE: &str = r#"10.0.0.1 - - [25/Nov/2026:20:30:06 +0000] "GET / HTTP/1.1" 200 7 "-" "-" host=e.org upstream_cache_status=MISS msec=1795638606.125
10.0.0.1 - - [25/Nov/2026:20:30:06 +0000] "GET / HTTP/1.1" 200 7 "-" "-" host=e.org upstream_cache_status=BYPASS msec=1795638606.126
10.0.0.1 - - [25/Nov/2026:20:30:06 +0000] "GET /s HTTP/1.1" 200 7 "-" "-" host=e.org upstream_cache_status=- msec=1795638606.127
10.0.0.1 - - [25/Nov/2026:20:30:06 +0000] "GET /no HTTP/1.1" 404 8 "-" "-" host=f.org upstream_cache_status="HIT" msec=1795638606.128
"#;

const REDIS: &str = r#"OK
1795638601.000001 [0 127.0.0.1:60866] "SET" "user:1" "h\x00llo" "EX" "10"
1795638602.000000 [0 [::1]:7] "get" "user:1"
1795638603.500000 [0 unix:/tmp/a ]b] "APPEND" "user:1" "\"\\"
1795638604.000000 [0 lua] "SET" "user:1" "v"
+1795638605.000000 [3 127.0.0.1:9] "MSET" "a" "1" "b" "22"
1795638606.000000 [3 127.0.0.1:9] "MGET" "a" "c"
1795638607.000000 [3 127.0.0.1:9] "HGET" "h" "f"
1795638608.000000 [3 127.0.0.1:9] "EXPIRE" "a" "0"
1795638608.000000 [3 127.0.0.1:9] "PEXPIREAT" "b" "1795638609500"
1795638609.000000 [3 127.0.0.1:9] "RENAME" "b" "d"
1795638609.000000 [3 127.0.0.1:9] "PING"
1795638610.000000 [0 127.0.0.1:9] "SETNX" "user:1" "longer"
1795638610.000000 [0 127.0.0.1:9] "UNLINK" "user:1"
1795638611.000000 [0 127.0.0.1:9] "flushdb"
1795638612.000000 [0 127.0.0.1:9] "SET" "7" "" "nx"
1795638613.000000 [0 127.0.0.1:9] "FLUSHDB" "ASYNC"
"#;

const MEMCACHED: &str = "OK\r
ts=1795638601.5 gid=1 type=item_store key=user%3A1 status=stored cmd=set ttl=60 clsid=5 cfd=30 size=100
ts=1795638601.100000 gid=2 type=item_get key=user%3A1 status=found clsid=5 cfd=31 size=100
ts=1795638602.7 gid=3 type=item_get key=b status=not_found clsid=0 cfd=31 size=0
ts=1795638602.8 gid=4 type=item_get key=b status=not_found clsid=0 cfd=31 size=0
ts=1795638602.8 gid=4 type=item_store key=b status=stored cmd=set ttl=0 clsid=1 cfd=31 size=3
ts=1795638602.9 gid=5 type=eviction key=b fetch=yes ttl=-1 la=3 clsid=1 size=3
ts=1795638602.9 gid=6 type=item_get key=b status=found clsid=1 cfd=31 size=3
ts=1795638602.9 gid=6 type=item_store key=b status=not_stored cmd=add ttl=0 clsid=1 cfd=31 size=9
ts=1795638603.0 gid=7 type=deleted key=b cmd=delete clsid=1 size=3
ts=1795638604.0 gid=8 type=item_get key=b status=not_found clsid=0 cfd=31 size=0
ts=1795638605.0 gid=9 type=item_store key=user%3A1 status=stored cmd=set ttl=0 clsid=1 cfd=31 size=0
ts=1795638606.0 gid=10 type=item_store key=b status=no_memory cmd=set ttl=0 clsid=30 cfd=7 size=0
ts=1795638607.0 gid=11 type=item_store key=c status=stored cmd=set ttl=4294900001 clsid=1 cfd=31 size=2
";

fn server_logs() -> Vec<Example> {
    vec![
        text(
            "nginx",
            NGINX,
            "1795638601000000000 - Read #/a?b+512 0\n1795638602000000000 - Read #/a?b+512 0\n\
             1795638603000000000 - Read #/a?b+512 0\n1795638604000000000 - Read #/a?b+512 0\n\
             1795638605000000000 - Read #/b+0 0\n1795638606000000000 - Discard #/a?b+0 0\n",
        ),
        text(
            "nginx:status=200/404",
            NGINX_CACHE,
            "1795638606125000000 e.org Read #e.org/+7 0\n1795638606128000000 f.org Read #f.org/no+8 0\n",
        ),
        text(
            "redisMonitor",
            REDIS,
            "1795638601000001000 database 0 Write #user:1+11 60866 lives 10000\n\
             1795638602000000000 database 0 Read #user:1+11 7\n\
             1795638603500000000 database 0 Write #user:1+13 0 lives 7501\n\
             1795638604000000000 database 0 Write #user:1+7 0 lives 2147483647000\n\
             1795638605000000000 database 3 Write #@3 a+2 9\n1795638605000000000 database 3 Write #@3 b+3 9\n\
             1795638606000000000 database 3 Read #@3 a+2 9\n1795638606000000000 database 3 Read #@3 c+1 9\n\
             1795638607000000000 database 3 Read #@3 h+1 9\n1795638608000000000 database 3 Discard #@3 a+1 9\n\
             1795638608000000000 database 3 Write #@3 b+3 9 lives 1500\n\
             1795638609000000000 database 3 Discard #@3 b+1 9\n1795638609000000000 database 3 Write #@3 d+3 9 lives 500\n\
             1795638610000000000 database 0 Read #user:1+7 9\n1795638610000000000 database 0 Discard #user:1+6 9\n\
             1795638612000000000 database 0 Write 7+1 9\n1795638613000000000 database 0 Discard 7+0 9\n",
        ),
        text(
            "redisMonitor:size=value",
            "1795638601.000001 [0 127.0.0.1:60866] \"PSETEX\" \"a\" \"250\" \"bcd\"\n",
            "1795638601000001000 database 0 Write #a+3 60866 lives 250\n",
        ),
        text(
            "memcachedWatch",
            MEMCACHED,
            "1795638601000005000 - Write #user:1+106 30 lives 60000\n1795638601100000000 - Read #user:1+106 31\n\
             1795638602000007000 - Read #b+1 31\n1795638602000008000 - Write #b+4 31\n\
             1795638603000000000 - Discard #b+4 0\n1795638604000000000 - Read #b+4 31\n\
             1795638605000000000 - Write #user:1+6 31 lives 2147483647000\n\
             1795638606000000000 - Write #b+4 7\n1795638607000000000 - Write #c+3 31 lives 1\n",
        ),
        text(
            "rocksdb",
            "1795638601000000,1,9,4096,0,default,2,17,1,0,1,1,100,1,1,30,0,5,40,20,8192\n\
             1795638601000001,2,8,100,1,a,b,4294967295,17,3,0,0,0,0,0,0,0,0,0,40,0,0\n\
             1795638601000002,3,7,100,1,a,b,1,17,3,1,0,0,0,0,0,0,0,0,40,0,0\n\
             1795638601000003,3,7,0,1,a,b,1,17,3,0,0,0,0,0,0,0,0,0,40,0,0\n",
            "1795638601000000000 default Read 1+4096 0\n1795638601000001000 a,b Read 2+100 0\n",
        ),
        text(
            "rocksdb:no-insert=read",
            "1795638601000002,3,7,100,1,a,1,17,3,1,0,0,0,0,0,0,0,0,40,0,0\n",
            "1795638601000002000 a Read 3+100 0\n",
        ),
    ]
}

const BLKPARSE: &str = "  \
          8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n  \
          8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]\n  \
          8,0    3        3     0.000003035   697  P   N [kjournald]\n  \
          8,0    3        4     0.000105395   697  D   W 223490 + 8 [kjournald]\n  \
        259,1    1       21     4.162090000  1203  Q  RA 4096 + 256 [cp]\n  \
          8,0    1       22     4.5   1203  Q   FWS [sync]\n  \
          8,0    1       23     4.6   1203  Q   FWFS 16 + 8 [sync]\n  \
          8,0    1       24     4.7   1203  Q   DS 1024 + 2048 [fstrim]\n  \
          8,0    1       25     5.0      0  C   W 223490 + 8 [0]\n  \
          8,0    0       0     5.1      0  m   N cfq workload slice:300\n\
        CPU0 (sda):\n Reads Queued:           0,        0KiB\n";

const STRACE: &str = "\
        10 1.000001 openat(AT_FDCWD</tmp>, \"in, (1)\", O_RDONLY|O_CLOEXEC) = 3</tmp/in, (1)>\n\
        10 1.000002 read(3</tmp/in, (1)>, \"\\\"), \"..., 4096) = 4096\n\
        10 1.000003 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n\
        11 1.000004 read(3</tmp/in, (1)>,  <unfinished ...>\n\
        10 1.000005 <... clone resumed>, child_tidptr=0x7f) = 11\n\
        11 1.000006 <... read resumed>\"x\"..., 100) = 50\n\
        10 1.000007 read(3</tmp/in, (1)>, \"y\", 10) = 10\n\
        10 1.000008 pread64(3</tmp/in, (1)>, \"y\", 10, 7) = 3\n\
        10 1.000009 lseek(3</tmp/in, (1)>, 0, SEEK_SET)   = 0\n\
        10 1.000010 dup2(3</tmp/in, (1)>, 0</dev/null>) = 0</tmp/in, (1)>\n\
        10 1.000011 read(0</tmp/in, (1)>, \"z\", 1)       = 1\n\
        10 1.000012 write(1<pipe:[77]>, \"z\", 1)       = 1\n\
        10 1.000013 openat(AT_FDCWD</tmp>, \"log\", O_WRONLY|O_APPEND) = 4</tmp/log>\n\
        10 1.000014 newfstatat(4</tmp/log>, \"\", {st_mode=S_IFREG|0644, st_size=1000, ...}, AT_EMPTY_PATH) = 0\n\
        10 1.000015 write(4</tmp/log>, \"z\", 24)       = 24\n\
        10 1.000016 ftruncate(4</tmp/log>, 1000) = 0\n\
        10 1.000017 fsync(4</tmp/log>) = 0\n\
        10 1.000018 read(9</tmp/none>, 0x7f, 1) = -1 EBADF (Bad file descriptor)\n\
        10 1.000019 copy_file_range(3</tmp/in, (1)>, NULL, 4</tmp/log>, [8] => [16], 8, 0) = 8\n\
        10 1.000020 --- SIGCHLD {si_signo=SIGCHLD, si_pid=11} ---\n\
        11 1.000021 +++ exited with 0 +++\n";

const PERF: &str = "# captured on: today\n             \
        cat  9103 [001] 23916.729040:                  filemap:mm_filemap_fault: dev=254:0 ino=3c4f2 ofs=40960\n     \
        tokio w  9103/9104 [001] 23916.729044:      filemap:mm_filemap_add_to_page_cache: dev 254:0 ino 3c4f2 pfn=0x413266 ofs=16384 order=0\n             \
        tokio w  9103/9104 [001] 23916.729304:              filemap:mm_filemap_map_pages: dev=254:0 ino=4f8cb ofs=61440-126975\n             \
        cat  9103 23916.73:              filemap:mm_filemap_get_pages: dev=254:0 ino=2ae ofs=0-4095\n\t\
            ffffffff8 [unknown] ([kernel])\n\n             \
        rm  9105 [000] 23916.8: filemap:mm_filemap_delete_from_page_cache: dev 254:0 ino 2ae pfn=0x1 ofs=65536 order=4\n";

fn recordings() -> Vec<Example> {
    vec![
        text(
            "blkparse",
            BLKPARSE,
            "0 8,0 Write 114426880+4096 697\n4162090000 259,1 Read 2097152+131072 1203\n\
             4500000000 8,0 Flush 0+0 1203\n4600000000 8,0 Write 8192+4096 1203\n4700000000 8,0 Discard 524288+1048576 1203\n",
        ),
        text("blkparse:action=D", BLKPARSE, "105395 8,0 Write 114426880+4096 697\n"),
        text("blkparse:action=C", BLKPARSE, "5000000000 8,0 Write 114426880+4096 0\n"),
        text(
            "fio",
            "fio version 2 iolog\n/tmp/a add\n/tmp/a open\n/tmp/a read 0 4096\n/tmp/a wait 250\n/tmp/a write 8192 512\n\
             /tmp/a datasync\n/tmp/b trim 0 65536\n/tmp/a close\n",
            "0 /tmp/a Read 0+4096 0\n250000 /tmp/a Write 8192+512 0\n250000 /tmp/a Flush 0+0 0\n250000 /tmp/b Discard 0+65536 0\n",
        ),
        text(
            "fio",
            "fio version 3 iolog\n19 /tmp/a add\n149 /tmp/a open\n152 /tmp/a read 0 4096\n281 /tmp/a write 45056 4096\n851 /tmp/a close\n",
            "152000 /tmp/a Read 0+4096 0\n281000 /tmp/a Write 45056+4096 0\n",
        ),
        text(
            "strace",
            STRACE,
            "1000002000 /tmp/in, (1) Read 0+4096 10\n1000006000 /tmp/in, (1) Read 4096+50 11\n\
             1000007000 /tmp/in, (1) Read 4146+10 10\n1000008000 /tmp/in, (1) Read 7+3 10\n\
             1000011000 /tmp/in, (1) Read 0+1 10\n1000015000 /tmp/log Write 1000+24 10\n\
             1000016000 /tmp/log Discard 1000+24 10\n1000017000 /tmp/log Flush 0+0 10\n\
             1000019000 /tmp/in, (1) Read 1+8 10\n1000019000 /tmp/log Write 8+8 10\n",
        ),
        text(
            "perf",
            PERF,
            "23916729040000 254:0/247026 Read 40960+4096 9103\n23916729304000 254:0/325835 Read 61440+65536 9104\n\
             23916730000000 254:0/686 Read 0+4096 9103\n23916800000000 254:0/686 Discard 65536+65536 9105\n",
        ),
    ]
}

fn packed_keys() -> Vec<Example> {
    let oracle: Vec<Vec<u8>> = [(1_u32, 7_u64, 2_i64), (1, 7, 4), (2, 9, -1), (3, 7, i64::MAX)]
        .iter()
        .map(|(time, key, next)| {
            [
                &time.to_le_bytes()[..],
                &key.to_le_bytes(),
                &100_u32.to_le_bytes(),
                &next.to_le_bytes(),
            ]
            .concat()
        })
        .collect();
    let oracle: Vec<&[u8]> = oracle.iter().map(Vec::as_slice).collect();
    let header = |version: u64| {
        let mut header = vec![0; 8192];
        header[..8].copy_from_slice(&0x1234_5678_9abc_def0_u64.to_le_bytes());
        header[8..16].copy_from_slice(&version.to_le_bytes());
        header[8184..].copy_from_slice(&0x1234_5678_9abc_def0_u64.to_le_bytes());
        header
    };
    let (time, key, size) = (&5_u32.to_le_bytes(), &99_u64.to_le_bytes(), &6_u32.to_le_bytes());
    let (get_of_2, delete_of_3) =
        (&(1_u32 | 2 << 8).to_le_bytes(), &(9_u32 | 3 << 8).to_le_bytes());
    let next = &(-1_i64).to_le_bytes();
    let sizes = &(17_u32 << 22 | 0xd5).to_le_bytes();
    let set = &(3_u32 << 24 | 0x3c).to_le_bytes();
    let twr: Vec<&[u8]> = [&time[..], key, sizes, set].repeat(16);
    let twr_ns: Vec<&[u8]> = [&time[..], key, sizes, set, &[7, 0]].repeat(16);
    let get_in_7 = [1, 0, 7, 0];
    let sys: Vec<&[u8]> =
        [&time[..], key, &[17, 0], &[213, 0, 0, 0], &get_in_7, &[60, 0, 0, 0], next].repeat(16);
    vec![
        binary(
            "oracleGeneral",
            &oracle,
            "1000000000 - Read 7+100 0\n1000000000 - Read 7+100 0\n2000000000 - Read 9+100 0\n3000000000 - Read 7+100 0\n",
        ),
        binary("lcs", &[&header(1), time, key, size, next], "5000000000 - Read 99+6 0\n"),
        binary(
            "lcs",
            &[&header(2), time, key, size, get_of_2, next, time, key, size, delete_of_3, next],
            "5000000000 tenant 2 Read 99+6 0\n5000000000 tenant 3 Discard 99+6 0\n",
        ),
        binary(
            "lcs",
            &[&header(3), time, key, &(1_i64 << 40).to_le_bytes(), get_of_2, &[9, 0, 0, 0], next],
            "5000000000 tenant 2 Read 99+1099511627776 0 lives 9000\n",
        ),
        binary("twr", &twr, "16 times 5000000000 - Write 99+230 0 lives 60000\n"),
        binary("twrNS", &twr_ns, "16 times 5000000000 name space 7 Write 99+230 0 lives 60000\n"),
        binary(
            "oracleSysTwrNS",
            &sys,
            "16 times 5000000000 name space 7 Read 99+230 0 lives 60000\n",
        ),
        binary(
            "u32le",
            &[&[1, 0, 0, 0xff, 2, 0, 0, 0]],
            "0 - Read 4278190081+0 0\n0 - Read 2+0 0\n",
        ),
        binary("u32be", &[&[0xff, 0, 0, 1]], "0 - Read 4278190081+0 0\n"),
        binary("i32le", &[&[0xfe, 0xff, 0xff, 0xff]], "0 - Read 18446744073709551614+0 0\n"),
        binary("i32be", &[&[0, 0, 1, 0]], "0 - Read 256+0 0\n"),
        binary("i64le", &[&[1, 2, 0, 0, 0, 0, 0, 0]], "0 - Read 513+0 0\n"),
        binary("i64be", &[&[0, 0, 0, 0, 0, 0, 2, 1]], "0 - Read 513+0 0\n"),
    ]
}

fn packed_blocks() -> Vec<Example> {
    const ASKED: &str = "1000001 8,1 Read 5120+4096 77\n1000001 8,1 Write 5120+512 77\n\
        1000001 8,1 Discard 5120+1024 77\n1000001 8,1 Flush 0+0 77\n";
    let (serial, length, segments) = (&1_u32.to_le_bytes(), &4096_u32.to_le_bytes(), &[1, 0, 0, 0]);
    let (block, time) = (&10_u64.to_le_bytes(), &3_000_001_u64.to_le_bytes());
    let one: Vec<&[u8]> = [serial, &length[..], segments, &[0x28, 0, 0, 1], block, time].repeat(3);
    let two: Vec<&[u8]> =
        [&[0x2a, 0, 0, 2][..], serial, length, segments, block, time, &[0; 8]].repeat(3);
    let blktrace = |action: u32, bytes: u32, extra: &[u8], is_big: bool| -> Vec<u8> {
        let word = |word: u32| if is_big { word.to_be_bytes() } else { word.to_le_bytes() };
        let long = |long: u64| if is_big { long.to_be_bytes() } else { long.to_le_bytes() };
        let extra_bytes = u32::try_from(extra.len()).unwrap();
        let tail = word(if is_big { extra_bytes } else { extra_bytes << 16 });
        [
            &word(0x6561_7407)[..],
            &word(1),
            &long(1_000_001),
            &long(10),
            &word(bytes),
            &word(action),
            &word(77),
            &word(8 << 20 | 1),
            &word(0),
            &tail,
            extra,
        ]
        .concat()
    };
    let (read, write, discard) = (1 << 16, 1 << 17, 1 << 29 | 1 << 17);
    let records = |is_big: bool| {
        [
            blktrace(1 | read, 4096, b"", is_big),
            blktrace(7 | read, 4096, b"", is_big),
            blktrace(1 | 1 << 26, 0, b"notice: a time", is_big),
            blktrace(0x101 | write, 512, &[9; 8], is_big),
            blktrace(1 | discard, 1024, b"", is_big),
            blktrace(1 | write | 1 << 18, 0, b"", is_big),
        ]
        .concat()
    };
    vec![
        binary("vscsi", &one, "3 times 3000001000 - Read 5120+4096 0\n"),
        binary("vscsi", &two, "3 times 3000001000 - Write 5120+4096 0\n"),
        binary("blktrace", &[&records(false)], ASKED),
        binary("blktrace", &[&records(true)], ASKED),
        binary("blktrace:action=D", &[&records(false)], "1000001 8,1 Read 5120+4096 77\n"),
    ]
}
