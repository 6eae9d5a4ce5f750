/* Processes and threads. */
#include "targets.h"
#include <linux/sched.h>

static int daemonise(void (*then)(void))
{
	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	then();
	_exit(5);
}

static void late(void)
{
	rest_ms(50);
	say("daemon: leader %d\n", getsid(0) == getpid());
}

static void closed(void)
{
	syscall(SYS_close_range, 0, ~0U, 0);
	rest_ms(50);
	int file = open("seen", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	dprintf(file, "daemon: its first descriptor is %d\n", file);
}

static int twice(int argc, char **argv)
{
	(void)argv;
	return daemonise(argc ? closed : late);
}

static int by_library(int argc, char **argv)
{
	(void)argc, (void)argv;
	if (daemon(1, 1) < 0)
		return 1;
	late();
	return 6;
}

static int session(int argc, char **argv)
{
	(void)argc, (void)argv;
	pid_t child = fork();
	if (child == 0) {
		say("group %s, ", word(setpgid(0, 0)));
		say("of its own %d, ", getpgrp() == getpid());
		pid_t below = fork();
		if (below == 0) {
			say("session %d\n", setsid() == getpid());
			_exit(3);
		}
		_exit(ended(below));
	}
	return ended(child);
}

static int vforks(int argc, char **argv)
{
	(void)argc;
	int good = 0;
	for (int i = 0; i < atoi(argv[0]); i++) {
		pid_t child = vfork();
		if (child == 0) {
			execl("/bin/true", "true", (char *)0);
			_exit(9);
		}
		good += ended(child) == 0;
	}
	say("%d ended well\n", good);
	return 0;
}

static int storm(int argc, char **argv)
{
	(void)argc;
	int many = atoi(argv[0]), good = 0;
	for (int i = 0; i < many; i++)
		if (fork() == 0) {
			if (i % 2)
				execl("/bin/true", "true", (char *)0);
			_exit(0);
		}
	for (int status; wait(&status) > 0;)
		good += status == 0;
	say("%d ended well\n", good);
	return 0;
}

/* Each process of a chain starts the next, all forks at once and none waited for. */
static int orphans(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < atoi(argv[0]); i++)
		if (fork() == 0) {
			if (fork())
				_exit(0);
			rest_ms(20);
			_exit(7);
		}
	return 0;
}

static int spawns(int argc, char **argv)
{
	(void)argc, (void)argv;
	int good = 0;
	for (int i = 0; i < 50; i++) {
		char *arguments[] = { "sh", "-c", "exit 3", 0 };
		pid_t child;
		if (posix_spawn(&child, "/bin/sh", 0, 0, arguments, environ))
			return 1;
		good += ended(child) == 3;
	}
	say("%d ended with 3\n", good);
	return 0;
}

static int counter;
static pthread_barrier_t all_here;

static void *meets(void *unused)
{
	pthread_barrier_wait(&all_here);
	__atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
	return unused;
}

static int threads(int argc, char **argv)
{
	(void)argc;
	int many = atoi(argv[0]);
	pthread_t *made = calloc(many, sizeof *made);
	pthread_barrier_init(&all_here, 0, many);
	for (int i = 0; i < many; i++)
		made[i] = thread(meets, 0);
	for (int i = 0; i < many; i++)
		pthread_join(made[i], 0);
	say("%d threads\n", counter);
	return 0;
}

static void *executes(void *unused)
{
	rest_ms(10);
	execl("/bin/sh", "sh", "-c", "echo executed; exit 4", (char *)0);
	return unused;
}

static void *idles(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *reads(void *unused)
{
	char byte;
	for (;;) {
		int file = open("/proc/self/exe", O_RDONLY);
		read(file, &byte, 1);
		close(file);
	}
	return unused;
}

static int thread_executes(int argc, char **argv)
{
	int leader_ends = argc && !strcmp(argv[0], "leader-ended");
	for (int i = 0; i < 20; i++)
		thread(i % 2 ? idles : reads, 0);
	thread(executes, 0);
	if (leader_ends)
		pthread_exit(0);
	idles(0);
	return 1;
}

static void *outlives(void *unused)
{
	rest_ms(50);
	say("the last thread\n");
	exit(7);
	return unused;
}

static int leader_ends(int argc, char **argv)
{
	(void)argc, (void)argv;
	thread(outlives, 0);
	pthread_exit(0);
}

static int zombies(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (int i = 0; i < 20; i++)
		if (fork() == 0)
			_exit(0);
	rest_ms(50);
	say("not waited for\n");
	return 0;
}

static int untraced(int argc, char **argv)
{
	(void)argc, (void)argv;
	pid_t child = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		int file = open("/proc/self/comm", O_RDONLY);
		char buffer[8];
		_exit(read(file, buffer, 2) == 2 ? 0 : errno == ENOSYS ? 38 : 1);
	}
	say("read: %d\n", ended(child));
	return 0;
}

static int subreaper(int argc, char **argv)
{
	(void)argc, (void)argv;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	pid_t before = getpid();
	if (fork() == 0) {
		if (fork() == 0) {
			rest_ms(50);
			say("fell to %s\n", getppid() == before ? "us" : "another");
			_exit(8);
		}
		_exit(0);
	}
	for (int status; wait(&status) > 0;)
		say("ended with %d\n", WEXITSTATUS(status));
	return 0;
}

static int parent_death(int argc, char **argv)
{
	(void)argc, (void)argv;
	int number = -1;
	prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0);
	say("at start %d\n", number);
	if (fork() == 0) {
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, 0);
		int ready[2];
		pipe(ready);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
			write(ready[1], "", 1);
			siginfo_t heard;
			say("heard %s\n", sigwaitinfo(&set, &heard) == SIGUSR1 ? "it" : "another");
			_exit(0);
		}
		read(ready[0], &(char){ 0 }, 1);
		_exit(0);
	}
	wait(0);
	rest_ms(50);
	return 0;
}

static int kills_parent(int argc, char **argv)
{
	(void)argc;
	int number = atoi(argv[0]);
	say("now\n");
	if (kill(getppid(), number) < 0)
		say("%s\n", word(-1));
	rest_ms(200);
	return 5;
}

static int parent_name(int argc, char **argv)
{
	(void)argc, (void)argv;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/comm", getppid());
	lines(path, "");
	return 0;
}

static int again(int argc, char **argv)
{
	(void)argc;
	int left = atoi(argv[0]);
	if (!left)
		return say("executed for the last time\n"), 5;
	char text[16];
	snprintf(text, sizeof text, "%d", left - 1);
	execl(self_path, argv[-1], "again", text, (char *)0);
	return 1;
}

static int nested(int argc, char **argv)
{
	(void)argc;
	int depth = 0;
	for (; depth < atoi(argv[0]); depth++) {
		pid_t child = fork();
		if (child)
			return ended(child);
	}
	say("%d deep\n", depth);
	return 6;
}

static int init_of_pids(int argc, char **argv)
{
	(void)argc, (void)argv;
	pid_t child = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (child < 0)
		return say("%s\n", word(-1)), 1;
	if (child == 0) {
		if (fork() == 0) {
			if (fork())
				_exit(0);
			rest_ms(30);
			say("orphan of %d\n", getppid());
			_exit(0);
		}
		for (int i = 0; i < 2; i++)
			wait(0);
		/* What is left in it is killed by the kernel. */
		if (fork() == 0)
			idles(0);
		say("process %d\n", getpid());
		_exit(4);
	}
	return ended(child);
}

static int kills_group(int argc, char **argv)
{
	(void)argc;
	if (fork() == 0)
		idles(0);
	rest_ms(20);
	kill(0, atoi(argv[0]));
	rest_ms(5000);
	return 0;
}

const struct target processes[] = {
	{ "twice", twice }, { "by-library", by_library }, { "session", session }, { "vforks", vforks },
	{ "storm", storm }, { "orphans", orphans }, { "spawns", spawns }, { "threads", threads },
	{ "thread-executes", thread_executes }, { "leader-ends", leader_ends }, { "zombies", zombies },
	{ "untraced", untraced }, { "subreaper", subreaper }, { "parent-death", parent_death },
	{ "kills-parent", kills_parent }, { "parent-name", parent_name }, { "again", again },
	{ "nested", nested }, { "init-of-pids", init_of_pids }, { "kills-group", kills_group }, { 0, 0 },
};
