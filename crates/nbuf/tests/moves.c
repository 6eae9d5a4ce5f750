/* moves WAY FILE OUT STEP PASSES [random]: goes through FILE in steps, in order or at random, by one of the calls
 * that move bytes without a buffer of the program, or by a ring. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH = 16 };

static long step, count;
static off_t size;
static int at_random;
static uint64_t state = 88172645463325252ull;

static off_t place(long i)
{
    off_t steps = size / step;
    if (!at_random)
        return i % steps * step;
    /* xorshift64 (Marsaglia 2003) */
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (off_t)(state % steps) * step;
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(2);
}

static char *ring_map(int ring, size_t bytes, off_t what)
{
    char *at = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);
    return at == MAP_FAILED ? (die("mmap"), at) : at;
}

/* All steps, by a ring. */
static void by_ring(int in, unsigned setup, unsigned flags)
{
    struct io_uring_params p = {.flags = setup, .sq_thread_idle = 1000};
    int ring = syscall(SYS_io_uring_setup, DEPTH, &p);
    if (ring < 0)
        die("io_uring_setup");
    char *sq = ring_map(ring, p.sq_off.array + p.sq_entries * 4, IORING_OFF_SQ_RING);
    char *cq = ring_map(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    struct io_uring_sqe *sqes = (void *)ring_map(ring, p.sq_entries * sizeof *sqes, IORING_OFF_SQES);
    struct io_uring_cqe *cqes = (void *)(cq + p.cq_off.cqes);
    unsigned *sq_tail = (void *)(sq + p.sq_off.tail), *array = (void *)(sq + p.sq_off.array);
    unsigned *cq_head = (void *)(cq + p.cq_off.head), *cq_tail = (void *)(cq + p.cq_off.tail);
    char *buffers = aligned_alloc(4096, DEPTH * step);
    unsigned slots[DEPTH], slots_free = DEPTH;
    for (unsigned i = 0; i < DEPTH; i++)
        slots[i] = i;
    for (long begun = 0, ended = 0; ended < count;) {
        unsigned tail = *sq_tail, submit = 0;
        for (; begun < count && slots_free; submit++, tail++) {
            unsigned slot = slots[--slots_free], at = tail & (p.sq_entries - 1);
            sqes[at] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .flags = flags, .fd = in,
                .off = place(begun++), .addr = (uintptr_t)(buffers + slot * step), .len = step, .user_data = slot};
            array[at] = at;
        }
        __atomic_store_n(sq_tail, tail, __ATOMIC_RELEASE);
        unsigned wake = setup & IORING_SETUP_SQPOLL ? IORING_ENTER_SQ_WAKEUP : 0;
        if (syscall(SYS_io_uring_enter, ring, submit, 1, IORING_ENTER_GETEVENTS | wake, 0, 0) < 0)
            die("io_uring_enter");
        unsigned head = *cq_head;
        for (; head != __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE); head++, ended++) {
            struct io_uring_cqe *done = &cqes[head & (p.cq_entries - 1)];
            if (done->res != step)
                errno = done->res < 0 ? -done->res : EIO, die("a read by the ring");
            slots[slots_free++] = done->user_data;
        }
        __atomic_store_n(cq_head, head, __ATOMIC_RELEASE);
    }
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return fprintf(stderr, "usage: moves WAY FILE OUT STEP PASSES [random]\n"), 2;
    const char *way = argv[1];
    int in = open(argv[2], O_RDONLY), out = open(argv[3], O_RDWR | O_CREAT, 0644);
    int null = open("/dev/null", O_WRONLY), pipes[2];
    struct stat seen;
    if (in < 0 || out < 0 || null < 0 || pipe(pipes) || fstat(in, &seen))
        die("open");
    size = seen.st_size, step = atol(argv[4]), count = atof(argv[5]) * (size / step), at_random = argc > 6;
    if (!strncmp(way, "ring", 4))
        return by_ring(in, strcmp(way, "ring-poll") ? 0 : IORING_SETUP_SQPOLL, strcmp(way, "ring-async") ? 0 : IOSQE_ASYNC), 0;
    char *buffer = malloc(step);
    for (long i = 0; i < count; i++) {
        off_t at = place(i), to = at;
        for (off_t left = step; left > 0;) {
            ssize_t n;
            if (!strcmp(way, "sendfile")) {
                n = sendfile(null, in, &at, left);
            } else if (!strcmp(way, "copy")) {
                n = copy_file_range(in, &at, out, &to, left, 0);
            } else if (!strcmp(way, "splice") || !strcmp(way, "splice-file")) {
                int file = way[6] == '-';
                n = splice(in, &at, pipes[1], 0, left, 0);
                for (ssize_t m = n, k; m > 0; m -= k)
                    if ((k = splice(pipes[0], 0, file ? out : null, file ? &to : 0, m, 0)) <= 0)
                        die("splice");
            } else if (!strcmp(way, "readahead")) {
                if (readahead(in, at, left))
                    die(way);
                n = pread(in, buffer, left, at), at += n;
            } else {
                n = pread(in, buffer, left, at), at += n;
            }
            if (n <= 0)
                die(way);
            left -= n;
        }
    }
    return 0;
}
