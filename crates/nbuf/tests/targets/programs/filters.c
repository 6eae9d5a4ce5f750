/* Filters over system calls, and tracing, of a command's own. */
#include "targets.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#define TRACE(request, pid, address, data) syscall(SYS_ptrace, (long)(request), (long)(pid), (long)(address), (long)(data))

/* A filter that answers this to one call. */
static long answer(long number, unsigned what, unsigned flags)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, what),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, steps };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static int strict(int argc, char **argv)
{
	(void)argc, (void)argv;
	long set = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	if (set < 0)
		return say("%s\n", word(set)), 2;
	syscall(SYS_write, 1, "strict\n", 7);
	syscall(SYS_getpid);
	return 1;
}

static int refuses(int argc, char **argv)
{
	(void)argc, (void)argv;
	char buffer[4];
	int file = open("/etc/passwd", O_RDONLY);
	say("filter %s\n", word(answer(SYS_pread64, SECCOMP_RET_ERRNO | EXDEV, 0)));
	say("pread %s\n", word(pread(file, buffer, 4, 0)));
	say("read %s\n", word(read(file, buffer, 4)));
	answer(SYS_execve, SECCOMP_RET_ERRNO | ENOANO, 0);
	say("execute %s\n", word(execl("/bin/true", "true", (char *)0)));
	return 3;
}

static volatile int trapped;

static void trap(int number, siginfo_t *info, void *unused)
{
	(void)unused;
	trapped = number == SIGSYS && info->si_syscall == SYS_read ? 1 : 2;
}

static int traps(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct sigaction action = { .sa_sigaction = trap, .sa_flags = SA_SIGINFO };
	sigaction(SIGSYS, &action, 0);
	answer(SYS_read, SECCOMP_RET_TRAP, 0);
	read(0, &(char){ 0 }, 1);
	say("trapped %d\n", trapped);
	return 0;
}

static int kills(int argc, char **argv)
{
	answer(SYS_read, argc && argv[0][0] == 't' ? SECCOMP_RET_KILL_THREAD : SECCOMP_RET_KILL_PROCESS, 0);
	say("reads\n");
	read(0, &(char){ 0 }, 1);
	return 1;
}

static int logs(int argc, char **argv)
{
	(void)argc, (void)argv;
	say("log %s\n", word(answer(SYS_getppid, SECCOMP_RET_LOG, 0)));
	say("call %s\n", word(getppid()));
	say("mode %d\n", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	return 0;
}

/* Asks a tracer, of which it has none. */
static int asks_tracer(int argc, char **argv)
{
	(void)argc, (void)argv;
	answer(SYS_getppid, SECCOMP_RET_TRACE | 7, 0);
	say("call %s\n", word(syscall(SYS_getppid)));
	return 0;
}

/* A parent that answers its child's calls. */
static int notifies(int argc, char **argv)
{
	(void)argc, (void)argv;
	int pair[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	pid_t child = fork();
	char buffer[4], control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec byte = { buffer, 1 };
	struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	if (child == 0) {
		int listener = answer(SYS_pread64, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
		if (listener < 0)
			return say("listener %s\n", word(listener)), 1;
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &listener, sizeof listener);
		sendmsg(pair[1], &message, 0);
		close(listener);
		int file = open("/etc/passwd", O_RDONLY);
		say("answered %s\n", word(pread(file, buffer, 4, 0)));
		long got = pread(file, buffer, 4, 0);
		say("let go %s %ld\n", word(got), got);
		_exit(0);
	}
	close(pair[1]);
	if (recvmsg(pair[0], &message, 0) != 1)
		return ended(child);
	int listener;
	memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof listener);
	for (int round = 0; round < 2; round++) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp said = { 0 };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked);
		said.id = asked.id;
		if (round)
			said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		else
			said.error = -ENOTNAM;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &said);
	}
	return ended(child);
}

/* As strace does it: a child that asks to be traced, or one that is seized. */
static int traces(int argc, char **argv)
{
	int seizes = argc && !strcmp(argv[0], "seize"), status, stops = 0, gate[2];
	pipe(gate);
	pid_t child = fork();
	if (child == 0) {
		if (seizes)
			read(gate[0], &(char){ 0 }, 1);
		else if (TRACE(PTRACE_TRACEME, 0, 0, 0) < 0)
			say("refused %s\n", word(-1));
		execl("/bin/true", "true", (char *)0);
		_exit(9);
	}
	if (seizes) {
		say("seized %s\n", word(TRACE(PTRACE_SEIZE, child, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)));
		write(gate[1], "", 1);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		TRACE(PTRACE_SYSCALL, child, 0, 0);
	}
	say("%s, ended with %d\n", stops > 10 ? "many stops" : stops ? "few stops" : "no stop", WEXITSTATUS(status));
	return 0;
}

/* Asks its parent, which does not expect it. */
static int traced_by_parent(int argc, char **argv)
{
	(void)argc, (void)argv;
	say("traced %s\n", word(TRACE(PTRACE_TRACEME, 0, 0, 0)));
	execl("/bin/sh", "sh", "-c", "kill -USR1 $$; echo not reached", (char *)0);
	return 1;
}

static int memory_of_child(int argc, char **argv)
{
	(void)argc, (void)argv;
	static char here[] = "before";
	int gate[2];
	pipe(gate);
	pid_t child = fork();
	if (child == 0) {
		memcpy(here, "within", 6);
		write(gate[1], "", 1);
		for (;;)
			pause();
	}
	read(gate[0], &(char){ 0 }, 1);
	char copy[7] = "";
	struct iovec to = { copy, 6 }, from = { here, 6 };
	say("%s: ", word(process_vm_readv(child, &to, 1, &from, 1, 0)));
	say("%s\n", copy);
	kill(child, SIGKILL);
	return ended(child) == 137 ? 0 : 1;
}

static int sandboxed(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct landlock_ruleset_attr rules = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int set = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
	say("rules %s\n", word(set));
	say("put %s\n", word(syscall(SYS_landlock_restrict_self, set, 0)));
	say("read %s, ", word(open("/etc/passwd", O_RDONLY)));
	int made = open("made", O_CREAT | O_WRONLY, 0600);
	say("write %s\n", word(made));
	unlink("made");
	return 0;
}

const struct target filters[] = {
	{ "strict", strict }, { "refuses", refuses }, { "traps", traps }, { "kills", kills }, { "logs", logs },
	{ "asks-tracer", asks_tracer }, { "notifies", notifies }, { "traces", traces },
	{ "traced-by-parent", traced_by_parent }, { "memory-of-child", memory_of_child },
	{ "sandboxed", sandboxed }, { 0, 0 },
};
