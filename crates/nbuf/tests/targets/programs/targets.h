/* What the awkward targets share. Every one prints what it finds, with no numbers that change by the run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct target {
	const char *name;
	int (*run)(int argc, char **argv);
};

extern char **environ;
extern const struct target processes[], signals[], starts[], filters[], calls[], files[];
extern char self_path[];

#define say(...) dprintf(1, __VA_ARGS__)

int launch(int argc, char **argv);
/* Waits for one child; its end as a shell would tell it. */
int ended(pid_t pid);
/* What failed, by its name; "ok" when nothing did. */
const char *word(long result);
void rest_ms(long milliseconds);
/* Lines of a file of /proc/self that begin with this. */
void lines(const char *path, const char *start);
/* A thread. */
pthread_t thread(void *(*run)(void *), void *with);
