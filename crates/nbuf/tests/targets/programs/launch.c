/* Starts a command, or nbuf with it, in the same odd circumstances. */
#include "targets.h"
#include <pty.h>
#include <termios.h>

static void fail(const char *what)
{
	perror(what);
	_exit(97);
}

static int each_number(const char *list, int (*take)(int))
{
	for (const char *at = list; *at;) {
		char *end;
		if (take((int)strtol(at, &end, 10)) < 0)
			return -1;
		at = *end ? end + 1 : end;
	}
	return 0;
}

static int ignore_one(int number)
{
	return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0;
}

static int block_one(int number)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	return sigprocmask(SIG_BLOCK, &set, 0);
}

static int close_one(int number)
{
	close(number);
	return 0;
}

static int open_one(int number)
{
	int file = open("/dev/zero", O_RDWR);
	if (file != number) {
		dup2(file, number);
		close(file);
	}
	return 0;
}

static void join(const char *path)
{
	int file = open(path, O_WRONLY);
	if (file < 0 || write(file, "0", 1) != 1)
		fail(path);
	close(file);
}

static void limit(const char *said)
{
	static const struct { const char *name; int which; } known[] = {
		{ "core", RLIMIT_CORE }, { "files", RLIMIT_NOFILE }, { "stack", RLIMIT_STACK },
	};
	for (size_t i = 0; i < 3; i++) {
		size_t length = strlen(known[i].name);
		if (!strncmp(said, known[i].name, length) && said[length] == ':') {
			rlim_t value = strtoul(said + length + 1, 0, 10);
			struct rlimit both = { value, value };
			if (setrlimit(known[i].which, &both) < 0)
				fail(said);
		}
	}
}

/* A child that this process waits for, as a shell does. */
static void as_child(void)
{
	pid_t child = fork();
	if (child == 0)
		return;
	for (;;) {
		int status;
		if (waitpid(child, &status, 0) < 0)
			fail("wait");
		if (WIFSTOPPED(status)) {
			/* It asked us to trace it, which we have no use for. */
			int number = WSTOPSIG(status);
			syscall(SYS_ptrace, 17, child, 0, number == SIGTRAP ? 0 : number);
			continue;
		}
		_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	}
}

/* A child with whatever it leaves behind, to the end of the last: init may be slow to do so. */
static void to_the_last(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	pid_t child = fork(), got;
	if (child == 0)
		return;
	int status, end = 96;
	while ((got = wait(&status)) > 0 || errno == EINTR)
		if (got == child)
			end = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	_exit(end);
}

/* A child that has a terminal, on which this is typed. */
static void at_terminal(const char *typed)
{
	int ours, output = dup(1), errors = dup(2);
	pid_t child = forkpty(&ours, 0, 0, 0);
	if (child < 0)
		fail("forkpty");
	if (child == 0) {
		dup2(errors, 2);
		close(errors);
		close(output);
		return;
	}
	char buffer[4096];
	ssize_t got;
	int has_typed = 0;
	while ((got = read(ours, buffer, sizeof buffer)) > 0) {
		write(output, buffer, got);
		if (!has_typed && memchr(buffer, '?', got)) {
			has_typed = 1;
			write(ours, typed, strlen(typed));
			write(ours, "\n", 1);
		}
	}
	_exit(ended(child));
}

static char **lengthened(int argc, char **argv, const char *said)
{
	size_t count = strtoul(said, 0, 10);
	char *piece = malloc(100001), **all = calloc(argc + count + 1, sizeof *all);
	memset(piece, 'x', 100000);
	piece[100000] = 0;
	memcpy(all, argv, argc * sizeof *all);
	for (size_t i = 0; i < count; i++) {
		char name[32];
		snprintf(name, sizeof name, "LONG%zu", i);
		setenv(name, piece, 1);
		all[argc + i] = piece;
	}
	return all;
}

int launch(int argc, char **argv)
{
	if (argc > 0 && !strcmp(*argv, "last")) {
		argc--, argv++;
		to_the_last();
	}
	setsid();
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, 0);
	for (int number = 1; number <= 64; number++)
		signal(number, SIG_DFL);
	for (; argc > 0 && strcmp(*argv, "--"); argc--, argv++) {
		char *value = strchr(*argv, '=');
		if (!value)
			fail(*argv);
		*value++ = 0;
		long number = strtol(value, 0, 10);
		if (!strcmp(*argv, "group"))
			join(value);
		else if (!strcmp(*argv, "ignore"))
			each_number(value, ignore_one);
		else if (!strcmp(*argv, "block"))
			each_number(value, block_one);
		else if (!strcmp(*argv, "close"))
			each_number(value, close_one);
		else if (!strcmp(*argv, "open"))
			each_number(value, open_one);
		else if (!strcmp(*argv, "limit"))
			limit(value);
		else if (!strcmp(*argv, "child"))
			as_child();
		else if (!strcmp(*argv, "tty"))
			at_terminal(value);
		else if (!strcmp(*argv, "nonew"))
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		else if (!strcmp(*argv, "long"))
			argv = lengthened(argc, argv, value);
		else if (!strcmp(*argv, "umask"))
			umask(strtol(value, 0, 8));
		else if (!strcmp(*argv, "nice"))
			setpriority(PRIO_PROCESS, 0, number);
		else if (!strcmp(*argv, "personality"))
			syscall(SYS_personality, number);
		else if (!strcmp(*argv, "uid")) {
			if (syscall(SYS_setgroups, 1, &(gid_t){ number }) || setresgid(number, number, number) ||
			    setresuid(number, number, number))
				fail("uid");
		} else
			fail(*argv);
	}
	execvp(argv[1], argv + 1);
	_exit(errno == ENOENT || errno == ENOTDIR ? 127 : 126);
}
