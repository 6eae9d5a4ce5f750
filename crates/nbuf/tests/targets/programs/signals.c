/* Signals, timers, stopped jobs and terminals. */
#include "targets.h"
#include <pty.h>
#include <setjmp.h>
#include <sys/time.h>
#include <termios.h>

static int dies(int argc, char **argv)
{
	(void)argc;
	int number = atoi(argv[0]);
	say("before\n");
	if (number == SIGSEGV)
		*(volatile int *)8 = 1;
	raise(number);
	say("after\n");
	return 0;
}

static volatile sig_atomic_t heard;
static int values[16];

static void counts(int number, siginfo_t *info, void *unused)
{
	(void)number, (void)unused;
	if (heard < 16)
		values[heard] = info->si_value.sival_int;
	heard++;
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_sigaction = counts, .sa_flags = SA_SIGINFO | flags };
	sigaction(number, &action, 0);
}

static int realtime(int argc, char **argv)
{
	(void)argc, (void)argv;
	handle(SIGRTMIN + 1, 0);
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 10; i++)
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i * i });
	sigprocmask(SIG_SETMASK, &old, 0);
	say("%d heard:", (int)heard);
	for (int i = 0; i < heard; i++)
		say(" %d", values[i]);
	say("\n");
	return 0;
}

static int job(int argc, char **argv)
{
	(void)argc, (void)argv;
	int status;
	pid_t child = fork();
	if (child == 0) {
		/* An orphaned group would not be stopped by SIGTSTP. */
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(child, child);
	pid_t sibling = fork();
	if (sibling == 0)
		_exit(kill(child, SIGSTOP));
	ended(sibling);
	waitpid(child, &status, WUNTRACED);
	say("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status) == SIGSTOP);
	kill(child, SIGCONT);
	waitpid(child, &status, WCONTINUED);
	say("continued %d\n", WIFCONTINUED(status));
	kill(child, SIGTSTP);
	waitpid(child, &status, WUNTRACED);
	say("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status) == SIGTSTP);
	kill(child, SIGKILL);
	say("ended with %d\n", ended(child));
	return 0;
}

/* A shell with job control on a terminal of ours. */
static int control(int argc, char **argv)
{
	(void)argc, (void)argv;
	int ours, status;
	pid_t child = forkpty(&ours, 0, 0, 0);
	if (child == 0) {
		signal(SIGTTOU, SIG_IGN);
		pid_t job = fork();
		if (job == 0) {
			setpgid(0, 0);
			tcsetpgrp(0, getpid());
			signal(SIGTTOU, SIG_DFL);
			say("ready?\n");
			for (;;)
				pause();
		}
		setpgid(job, job);
		waitpid(job, &status, WUNTRACED);
		tcsetpgrp(0, getpgrp());
		say("stopped by %d\n", WIFSTOPPED(status) ? WSTOPSIG(status) : 0);
		tcsetpgrp(0, job);
		kill(-job, SIGCONT);
		say("again?\n");
		int end = ended(job);
		tcsetpgrp(0, getpgrp());
		say("ended with %d\n", end);
		_exit(3);
	}
	char all[4096] = "";
	size_t at = 0;
	int asked = 0;
	for (ssize_t got; (got = read(ours, all + at, sizeof all - 1 - at)) > 0;) {
		for (at += got; asked < 2 && strchr(all, '?') && (asked == 0 || strstr(all, "again?")); asked++) {
			rest_ms(30);
			write(ours, asked ? "\x03" : "\x1a", 1);
		}
	}
	say("%s", all);
	return ended(child);
}

static int timers(int argc, char **argv)
{
	(void)argc, (void)argv;
	handle(SIGALRM, SA_RESTART);
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	setitimer(ITIMER_REAL, &every, 0);
	struct timespec left = { 0, 100000000 };
	while (nanosleep(&left, &left) < 0)
		;
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, 0);
	say("alarms %s\n", heard > 3 ? "came" : "failed");
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, 0);
	say("timer %s\n", word(timer_create(CLOCK_MONOTONIC, &event, &timer)));
	timer_settime(timer, 0, &(struct itimerspec){ { 0, 0 }, { 0, 1000000 } }, 0);
	siginfo_t info;
	say("came %d\n", sigwaitinfo(&set, &info) == SIGRTMIN);
	alarm(1);
	signal(SIGALRM, SIG_DFL);
	for (;;)
		pause();
}

/* Reads that a signal comes into, with and without SA_RESTART. */
static int interrupted(int argc, char **argv)
{
	(void)argc, (void)argv;
	char byte;
	int ends[2];
	pipe(ends);
	pid_t us = getpid();
	for (int round = 0; round < 2; round++) {
		handle(SIGUSR1, round ? SA_RESTART : 0);
		pid_t child = fork();
		if (child == 0) {
			rest_ms(50);
			kill(us, SIGUSR1);
			rest_ms(50);
			write(ends[1], "x", 1);
			_exit(0);
		}
		long got = read(ends[0], &byte, 1);
		say("read: %s %ld\n", word(got), got);
		if (got < 0)
			read(ends[0], &byte, 1);
		ended(child);
	}
	say("heard %d\n", (int)heard);
	return 0;
}

static sigjmp_buf back;

static void jumps(int number)
{
	siglongjmp(back, number);
}

static int deep(volatile char *from)
{
	volatile char room[4096];
	room[0] = *from;
	return deep(room) + room[1];
}

static int faults(int argc, char **argv)
{
	(void)argc, (void)argv;
	stack_t other = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	sigaltstack(&other, 0);
	struct sigaction action = { .sa_handler = jumps, .sa_flags = SA_ONSTACK };
	int all[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	for (int i = 0; i < 5; i++)
		sigaction(all[i], &action, 0);
	setrlimit(RLIMIT_STACK, &(struct rlimit){ 1 << 20, 1 << 20 });
	int number = sigsetjmp(back, 1);
	if (!number)
		deep((char *)"");
	say("stack: %d\n", number);
	if (!(number = sigsetjmp(back, 1)))
		__builtin_trap();
	say("instruction: %d\n", number);
	if (!(number = sigsetjmp(back, 1)))
		raise(SIGTRAP);
	say("trap: %d\n", number);
	int file = open("short", O_CREAT | O_RDWR, 0600);
	unlink("short");
	volatile char *mapped = mmap(0, 8192, PROT_READ, MAP_SHARED, file, 0);
	if (!(number = sigsetjmp(back, 1)))
		(void)*mapped;
	say("past the end: %d\n", number);
	return 0;
}

static int masks(int argc, char **argv)
{
	(void)argc, (void)argv;
	lines("/proc/self/status", "SigIgn:");
	lines("/proc/self/status", "SigBlk:");
	lines("/proc/self/status", "SigCgt:");
	lines("/proc/self/status", "SigPnd:");
	return 0;
}

/* Whether children can be waited for, which they cannot with SIGCHLD ignored. */
static int waits(int argc, char **argv)
{
	(void)argc, (void)argv;
	pid_t child = fork();
	if (child == 0)
		_exit(3);
	rest_ms(20);
	int status;
	say("wait: %s\n", word(waitpid(child, &status, 0)));
	return 0;
}

static void *sleeps(void *unused)
{
	for (;;)
		rest_ms(1000);
	return unused;
}

static int to_threads(int argc, char **argv)
{
	(void)argc, (void)argv;
	handle(SIGUSR2, 0);
	pthread_t one = thread(sleeps, 0);
	for (int i = 0; i < 5; i++) {
		int before = heard;
		pthread_kill(one, SIGUSR2);
		while (heard == before)
			sched_yield();
	}
	pthread_cancel(one);
	void *how;
	pthread_join(one, &how);
	say("heard %d, cancelled %d\n", (int)heard, how == PTHREAD_CANCELED);
	return 0;
}

/* The command is given a terminal, and the test types. */
static int terminal(int argc, char **argv)
{
	(void)argc, (void)argv;
	char line[256];
	struct termios mode;
	say("terminal %d %d %d, foreground %d\n", isatty(0), isatty(1), isatty(2),
	    tcgetpgrp(0) == getpgrp());
	say("mode %s\n", word(tcgetattr(0, &mode)));
	mode.c_lflag &= ~ECHO;
	tcsetattr(0, TCSADRAIN, &mode);
	say("who?\n");
	long got = read(0, line, sizeof line - 1);
	line[got > 0 ? got : 0] = 0;
	say("hello %s", line);
	return 2;
}

const struct target signals[] = {
	{ "dies", dies }, { "realtime", realtime }, { "job", job }, { "control", control },
	{ "timers", timers }, { "interrupted", interrupted }, { "faults", faults }, { "masks", masks },
	{ "waits", waits }, { "to-threads", to_threads }, { "terminal", terminal }, { 0, 0 },
};
