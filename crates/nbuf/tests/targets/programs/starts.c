/* What a program is given when it starts, and odd programs to start. */
#include "targets.h"
#include <dirent.h>
#include <linux/capability.h>

/* The standard descriptors that are open, in a file: there may be no output. */
static int standard(int argc, char **argv)
{
	(void)argc, (void)argv;
	int open_now = 0;
	for (int i = 0; i < 3; i++)
		open_now |= (fcntl(i, F_GETFD) >= 0) << i;
	int file = open("seen", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	dprintf(file, "open: %d, next %d\n", open_now, file);
	return 0;
}

static int descriptors(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (int i = 0; i < 1024; i++) {
		int flags = fcntl(i, F_GETFD);
		struct stat about;
		if (flags >= 0 && !fstat(i, &about))
			say("%d: flags %d, kind %o\n", i, flags, about.st_mode & S_IFMT);
	}
	return 0;
}

static int status(int argc, char **argv)
{
	(void)argc;
	for (; *argv; argv++)
		lines("/proc/self/status", *argv);
	return 0;
}

static int compare(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

static int surroundings(int argc, char **argv)
{
	char text[4096];
	size_t variables = 0;
	while (environ[variables])
		variables++;
	qsort(environ, variables, sizeof *environ, compare);
	for (size_t i = 0; i < variables; i++)
		if (strncmp(environ[i], "NBUF_TARGET", 11))
			say("%.200s\n", environ[i]);
	for (int i = 0; i < argc; i++)
		say("argument %s\n", argv[i]);
	ssize_t got = readlink("/proc/self/exe", text, sizeof text);
	say("program %.*s\n", (int)got, text);
	int file = open("/proc/self/cmdline", O_RDONLY);
	got = read(file, text, sizeof text);
	close(file);
	for (ssize_t i = 0; i < got; i++)
		say("%c", text[i] ? text[i] : ' ');
	say("\n");
	mode_t mask = umask(0);
	say("mask %o, directory %s\n", mask, getcwd(text, sizeof text) ? text : "none");
	say("nice %d, policy %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
	say("priority of I/O %ld\n", syscall(SYS_ioprio_get, 1, 0));
	say("personality %lx\n", syscall(SYS_personality, 0xffffffff));
	for (const char *const *name = (const char *const[]){ "oom_score_adj", "limits", "comm",
	     "coredump_filter", "uid_map", "timerslack_ns", 0 }; *name; name++) {
		snprintf(text, sizeof text, "/proc/self/%s", *name);
		lines(text, "");
	}
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;
	while (readdir(tasks))
		count++;
	say("%d threads, subreaper ", count - 2);
	int is = -1;
	prctl(PR_GET_CHILD_SUBREAPER, &is, 0, 0, 0);
	say("%d, dumpable %d, secure bits %d\n", is, prctl(PR_GET_DUMPABLE), prctl(PR_GET_SECUREBITS));
	return 0;
}

static int identity(int argc, char **argv)
{
	(void)argc, (void)argv;
	const char *all[] = { "Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:" };
	for (size_t i = 0; i < 8; i++)
		lines("/proc/self/status", all[i]);
	return 0;
}

static int lengths(int argc, char **argv)
{
	size_t bytes = 0, variables = 0;
	for (char **each = argv; *each; each++)
		bytes += strlen(*each) + 1;
	for (char **each = environ; *each; each++)
		variables += strncmp(*each, "LONG", 4) ? 0 : strlen(*each) + 1;
	say("%d arguments of %zu bytes, variables of %zu\n", argc, bytes, variables);
	return 0;
}

static int odd_names(int argc, char **argv)
{
	(void)argc, (void)argv;
	char *none[] = { 0 }, *empty[] = { "", 0 }, *dash[] = { "-sh", "-c", "echo $0", 0 };
	pid_t child = fork();
	if (child == 0)
		execve("/bin/true", none, environ), _exit(9);
	say("none: %d\n", ended(child));
	if ((child = fork()) == 0)
		execve("/bin/true", empty, environ), _exit(9);
	say("empty: %d\n", ended(child));
	if ((child = fork()) == 0)
		execve("/bin/sh", dash, environ), _exit(9);
	say("dash: %d\n", ended(child));
	char long_name[5000];
	memset(long_name, 'n', 4999);
	long_name[4999] = 0;
	say("long: %s\n", word(execl(long_name, "x", (char *)0)));
	return 0;
}

static int copied(const char *to, mode_t mode)
{
	char buffer[65536];
	int from = open("/proc/self/exe", O_RDONLY);
	int file = to ? open(to, O_CREAT | O_WRONLY | O_TRUNC, mode) : (int)syscall(SYS_memfd_create, "program", 1);
	for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;)
		write(file, buffer, got);
	if (to)
		close(file);
	return file;
}

static int in_memory(int argc, char **argv)
{
	(void)argc, (void)argv;
	int file = copied(0, 0);
	char *arguments[] = { "memory", "gone", 0 };
	syscall(SYS_execveat, file, "", arguments, environ, AT_EMPTY_PATH);
	return say("%s\n", word(-1)), 1;
}

static int gone(int argc, char **argv)
{
	(void)argc, (void)argv;
	char path[4096];
	unlink("copy");
	ssize_t got = readlink("/proc/self/exe", path, sizeof path - 1);
	path[got > 0 ? got : 0] = 0;
	say("a deleted program: %d\n", got > 10 && !strcmp(path + got - 10, " (deleted)"));
	return 4;
}

static int deleted(int argc, char **argv)
{
	(void)argc, (void)argv;
	copied("copy", 0700);
	execl("./copy", "copy", "gone", (char *)0);
	return say("%s\n", word(-1)), 1;
}

/* A program that may be executed and not read. */
static int unreadable(int argc, char **argv)
{
	(void)argc, (void)argv;
	copied("copy", 0111);
	pid_t child = fork();
	if (child == 0)
		execl("./copy", "copy", "status", "Name:", (char *)0), _exit(9);
	int end = ended(child);
	unlink("copy");
	return end;
}

static int on_tmpfs(int argc, char **argv)
{
	(void)argc, (void)argv;
	char directory[] = "/dev/shm/nbuf-targets-XXXXXX", path[64];
	snprintf(path, sizeof path, "%s/program", mkdtemp(directory));
	copied(path, 0700);
	pid_t child = fork();
	if (child == 0)
		execl(path, "tmpfs", "status", "Name:", (char *)0), _exit(errno == EACCES ? 13 : 9);
	int end = ended(child);
	unlink(path);
	rmdir(directory);
	return end == 0 ? 3 : end;
}

static int become(int argc, char **argv)
{
	(void)argc, (void)argv;
	say("groups %s\n", word(syscall(SYS_setgroups, 0, 0)));
	say("group %s\n", word(setresgid(7, 7, 7)));
	say("user %s\n", word(setresuid(7, 7, 7)));
	identity(0, 0);
	say("back %s\n", word(setuid(0)));
	int file = open("/etc/passwd", O_RDONLY);
	char buffer[4];
	say("read %zd\n", read(file, buffer, 4));
	execl("/usr/bin/id", "id", "-u", (char *)0);
	return 1;
}

static int capabilities(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };
	say("bound %s\n", word(prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0)));
	say("dropped %s\n", word(syscall(SYS_capset, &header, none)));
	say("not dumpable %s\n", word(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)));
	int file = open("/etc/passwd", O_RDONLY);
	char buffer[4];
	say("read %zd\n", read(file, buffer, 4));
	lines("/proc/sys/kernel/ostype", "");
	return 0;
}

static int priorities(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct sched_param least = { 0 }, some = { 1 };
	say("nice %s\n", word(setpriority(PRIO_PROCESS, 0, 5)));
	say("back %s\n", word(setpriority(PRIO_PROCESS, 0, 0)));
	say("batch %s\n", word(sched_setscheduler(0, SCHED_BATCH, &least)));
	say("real time %s\n", word(sched_setscheduler(0, SCHED_RR, &some)));
	say("I/O %s\n", word(syscall(SYS_ioprio_set, 1, 0, 3 << 13)));
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	say("one processor %s\n", word(sched_setaffinity(0, sizeof one, &one)));
	say("address space %s\n", word(syscall(SYS_personality, 0x40000)));
	say("memory lock %s\n", word(mlockall(MCL_CURRENT)));
	execl("/bin/sh", "sh", "-c", "nice; exit 3", (char *)0);
	return 1;
}

static int limits(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct { int which; rlim_t value; } all[] = {
		{ RLIMIT_NOFILE, 5 }, { RLIMIT_STACK, 256 << 10 }, { RLIMIT_AS, 64 << 20 },
		{ RLIMIT_FSIZE, 4096 }, { RLIMIT_CPU, 100 }, { RLIMIT_MEMLOCK, 0 }, { RLIMIT_SIGPENDING, 2 },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		say("limit %d %s\n", all[i].which, word(setrlimit(all[i].which, &(struct rlimit){ all[i].value, all[i].value })));
	say("memory %s\n", malloc(128 << 20) ? "ok" : word(-1));
	int file = open("long", O_CREAT | O_RDWR, 0600);
	unlink("long");
	signal(SIGXFSZ, SIG_IGN);
	static char page[8192];
	say("first %zd\n", write(file, page, 8192));
	say("then %s\n", word(write(file, page, 1)));
	say("descriptors %s\n", word(dup(dup(dup(0)))));
	signal(SIGXFSZ, SIG_DFL);
	write(file, page, 1);
	return 1;
}

static int few_processes(int argc, char **argv)
{
	(void)argc, (void)argv;
	setrlimit(RLIMIT_NPROC, &(struct rlimit){ 0, 0 });
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	say("fork %s\n", word(child));
	return child > 0 ? ended(child) : 3;
}

static int closes_all(int argc, char **argv)
{
	(void)argc, (void)argv;
	say("closing\n");
	for (int i = 0; i < 1024; i++)
		close(i);
	int file = open("seen", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	dprintf(file, "closed, next was %d\n", file);
	return 9;
}

const struct target starts[] = {
	{ "standard", standard }, { "descriptors", descriptors }, { "status", status },
	{ "surroundings", surroundings }, { "identity", identity }, { "lengths", lengths },
	{ "odd-names", odd_names }, { "in-memory", in_memory }, { "gone", gone }, { "deleted", deleted },
	{ "unreadable", unreadable }, { "on-tmpfs", on_tmpfs }, { "become", become },
	{ "capabilities", capabilities }, { "priorities", priorities }, { "limits", limits },
	{ "few-processes", few_processes }, { "closes-all", closes_all }, { 0, 0 },
};
