/* Calls that are seldom made. */
#include "targets.h"
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

static int asynchronous(int argc, char **argv)
{
	(void)argc, (void)argv;
	aio_context_t context = 0;
	static char buffer[64];
	int file = open("/etc/passwd", O_RDONLY);
	struct iocb one = { .aio_fildes = file, .aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (uintptr_t)buffer, .aio_nbytes = 4 };
	struct iocb *all[] = { &one };
	struct io_event event = { 0 };
	say("setup %s\n", word(syscall(SYS_io_setup, 4, &context)));
	say("submitted %ld\n", syscall(SYS_io_submit, context, 1, all));
	say("came %ld, ", syscall(SYS_io_getevents, context, 1, 1, &event, 0));
	say("read %lld %.4s\n", (long long)event.res, buffer);
	return 0;
}

static int ring(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct io_uring_params p = { 0 };
	static char buffer[64];
	int file = open("/etc/passwd", O_RDONLY);
	int made = syscall(SYS_io_uring_setup, 4, &p);
	say("setup %s\n", word(made));
	if (made < 0)
		return 1;
	char *submitted = mmap(0, p.sq_off.array + 4 * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, made, IORING_OFF_SQ_RING);
	char *completed = mmap(0, p.cq_off.cqes + 8 * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, made, IORING_OFF_CQ_RING);
	struct io_uring_sqe *entries = mmap(0, 4 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, made, IORING_OFF_SQES);
	entries[0] = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = file, .addr = (uintptr_t)buffer, .len = 4 };
	((unsigned *)(submitted + p.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(submitted + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	say("entered %ld\n", syscall(SYS_io_uring_enter, made, 1, 1, IORING_ENTER_GETEVENTS, 0, 0));
	struct io_uring_cqe *end = (void *)(completed + p.cq_off.cqes);
	say("read %d %.4s\n", end->res, buffer);
	return 0;
}

static int events(int argc, char **argv)
{
	(void)argc, (void)argv;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, 0);
	int heard = signalfd(-1, &set, 0), counts = eventfd(0, 0), ticks = timerfd_create(CLOCK_MONOTONIC, 0);
	int polls = epoll_create1(0), names = inotify_init();
	timerfd_settime(ticks, 0, &(struct itimerspec){ { 0, 0 }, { 0, 5000000 } }, 0);
	say("watch %s\n", word(inotify_add_watch(names, ".", IN_CREATE)));
	int all[] = { heard, counts, ticks, names };
	for (int i = 0; i < 4; i++)
		epoll_ctl(polls, EPOLL_CTL_ADD, all[i], &(struct epoll_event){ EPOLLIN, { .u32 = i } });
	pid_t child = fork();
	if (child == 0) {
		write(counts, &(uint64_t){ 7 }, 8);
		close(open("named", O_CREAT | O_WRONLY, 0600));
		_exit(2);
	}
	int seen = 0;
	while (seen != 15) {
		struct epoll_event came;
		if (epoll_wait(polls, &came, 1, 10000) != 1)
			break;
		seen |= 1 << came.data.u32;
		epoll_ctl(polls, EPOLL_CTL_DEL, all[came.data.u32], 0);
	}
	uint64_t value = 0;
	struct signalfd_siginfo info = { 0 };
	read(counts, &value, 8);
	read(heard, &info, sizeof info);
	unlink("named");
	say("seen %d, counted %d, child %d with %d\n", seen, (int)value, info.ssi_pid == (unsigned)child, info.ssi_status);
	return ended(child);
}

static int watches_files(int argc, char **argv)
{
	(void)argc, (void)argv;
	int watch = fanotify_init(FAN_CLASS_CONTENT | FAN_NONBLOCK, O_RDONLY);
	say("watch %s\n", word(watch));
	if (watch < 0)
		return 1;
	close(open("asked", O_CREAT | O_WRONLY, 0600));
	say("mark %s\n", word(fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, "asked")));
	pid_t child = fork();
	if (child == 0) {
		close(watch);
		_exit(open("asked", O_RDONLY) < 0 ? errno : 0);
	}
	struct fanotify_event_metadata event;
	while (read(watch, &event, sizeof event) < 0)
		rest_ms(5);
	struct fanotify_response no = { event.fd, FAN_DENY };
	write(watch, &no, sizeof no);
	say("denied %d\n", ended(child) == EPERM);
	unlink("asked");
	return 0;
}

static void *fills(void *with)
{
	int faults = *(int *)with;
	struct uffd_msg message;
	static char page[4096] = "filled";
	if (read(faults, &message, sizeof message) == sizeof message) {
		struct uffdio_copy copy = { message.arg.pagefault.address & ~4095ULL, (uintptr_t)page, 4096, 0, 0 };
		ioctl(faults, UFFDIO_COPY, &copy);
	}
	return 0;
}

static int own_faults(int argc, char **argv)
{
	(void)argc, (void)argv;
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	say("faults %s\n", word(faults));
	if (faults < 0)
		return 1;
	struct uffdio_api api = { .api = UFFD_API };
	ioctl(faults, UFFDIO_API, &api);
	char *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { { (uintptr_t)at, 4096 }, UFFDIO_REGISTER_MODE_MISSING, 0 };
	say("range %s\n", word(ioctl(faults, UFFDIO_REGISTER, &range)));
	pthread_t one = thread(fills, &faults);
	/* By the processor, which user mode only allows. */
	say("page %c%c\n", ((volatile char *)at)[0], ((volatile char *)at)[1]);
	pthread_join(one, 0);
	return 0;
}

static int by_descriptor(int argc, char **argv)
{
	(void)argc, (void)argv;
	int file = open("/etc/passwd", O_RDONLY), gate[2];
	pipe(gate);
	pid_t child = fork();
	if (child == 0) {
		read(gate[0], &(char){ 0 }, 1);
		_exit(1);
	}
	int process = syscall(SYS_pidfd_open, child, 0);
	say("process %s\n", word(process));
	int copy = syscall(SYS_pidfd_getfd, process, file, 0);
	say("its file %s\n", word(copy));
	say("signal %s\n", word(syscall(SYS_pidfd_send_signal, process, SIGKILL, 0, 0)));
	siginfo_t info = { 0 };
	say("waited %s, ", word(waitid(P_PIDFD, process, &info, WEXITED)));
	say("killed %d\n", info.si_status == SIGKILL);
	return 0;
}

static int new_root(int argc, char **argv)
{
	(void)argc, (void)argv;
	mkdir("root", 0755);
	int file = open("/etc/passwd", O_RDONLY);
	char byte;
	long done = chroot("root");
	rmdir("root");
	say("root %s\n", word(done));
	if (done < 0)
		return 1;
	say("inside %s\n", word(open("/etc/passwd", O_RDONLY)));
	say("read %s\n", word(read(file, &byte, 1)));
	chdir("/");
	say("nowhere %s\n", word(open("made", O_CREAT | O_WRONLY, 0600)));
	if (fork() == 0)
		_exit(3);
	int status;
	wait(&status);
	return WEXITSTATUS(status);
}

static int counters(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct rusage usage;
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	say("ended %d\n", ended(child));
	getrusage(RUSAGE_CHILDREN, &usage);
	say("children used %s\n", usage.ru_maxrss > 0 ? "memory" : "none");
	for (int i = 0; i < 100000; i++)
		getppid();
	say("keys %s\n", word(syscall(SYS_keyctl, 0, -3, 0)));
	say("barrier %s\n", word(syscall(SYS_membarrier, 0, 0, 0)));
	say("name %s\n", word(prctl(PR_SET_NAME, "odd) S 1 (name")));
	lines("/proc/self/comm", "");
	return 0;
}

const struct target calls[] = {
	{ "asynchronous", asynchronous }, { "ring", ring }, { "events", events },
	{ "watches-files", watches_files }, { "own-faults", own_faults }, { "by-descriptor", by_descriptor },
	{ "new-root", new_root }, { "counters", counters }, { 0, 0 },
};
