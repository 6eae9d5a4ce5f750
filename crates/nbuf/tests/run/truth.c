/* Does what it is asked for known times, and says what it measured itself: `NAME SECONDS` on standard output. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec at;
	clock_gettime(clock, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

static void nap(double seconds)
{
	struct timespec left = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
	while (nanosleep(&left, &left))
		;
}

static void compute(double seconds)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* What a wait took, less the time in which this thread ran. */
static double waited, since, since_cpu;
static void begin(void) { since = now(CLOCK_MONOTONIC); since_cpu = now(CLOCK_THREAD_CPUTIME_ID); }
static void end(void)
{
	waited += now(CLOCK_MONOTONIC) - since - (now(CLOCK_THREAD_CPUTIME_ID) - since_cpu);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double seconds;
static void *hold(void *ready)
{
	pthread_mutex_lock(&mutex);
	write(*(int *)ready, "", 1);
	nap(seconds);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *compute_thread(void *unused)
{
	compute(seconds);
	return unused;
}

int main(int count, char **words)
{
	const char *what = words[1];
	double amount = atof(words[2]);
	char byte;
	int pair[2], back[2];
	seconds = amount;
	if (!strcmp(what, "compute")) {
		compute(amount);
	} else if (!strcmp(what, "sleep")) {
		nap(amount);
	} else if (!strcmp(what, "poll")) {
		poll(NULL, 0, (int)(amount * 1000));
	} else if (!strcmp(what, "wait")) {
		if (!fork()) { nap(amount); _exit(0); }
		wait(NULL);
	} else if (!strcmp(what, "pipe")) {
		pipe(pair);
		if (!fork()) { nap(amount); write(pair[1], "", 1); _exit(0); }
		begin(); read(pair[0], &byte, 1); end();
	} else if (!strcmp(what, "futex")) {
		pthread_t thread;
		pipe(pair);
		pthread_create(&thread, NULL, hold, &pair[1]);
		read(pair[0], &byte, 1);
		begin(); pthread_mutex_lock(&mutex); end();
		pthread_join(thread, NULL);
	} else if (!strcmp(what, "beside")) {
		/* Another thread computes for a while; this one sleeps twice as long. */
		pthread_t thread;
		pthread_create(&thread, NULL, compute_thread, NULL);
		nap(2 * amount);
		pthread_join(thread, NULL);
	} else if (!strcmp(what, "ping")) {
		/* Two processes in turn: each sleeps for a millisecond while the other waits for it. */
		pipe(pair); pipe(back);
		int rounds = (int)(amount * 500);
		if (!fork()) {
			for (int n = 0; n < rounds; n++) { read(pair[0], &byte, 1); nap(0.001); write(back[1], "", 1); }
			_exit(0);
		}
		for (int n = 0; n < rounds; n++) {
			nap(0.001); write(pair[1], "", 1);
			begin(); read(back[0], &byte, 1); end();
		}
		wait(NULL);
	} else if (!strcmp(what, "touch")) {
		size_t pages = (size_t)amount, bytes = pages * 4096;
		char *memory = mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(memory, bytes + (2 << 20), MADV_NOHUGEPAGE);
		for (size_t at = 0; at < bytes; at += 4096)
			memory[at] = 1;
		/* The exit would free it after the kernel has reported the end. */
		if (words[3])
			munmap(memory, bytes + (2 << 20));
	} else if (!strcmp(what, "calls")) {
		for (int n = 0; n < (int)amount; n++)
			getppid();
	} else if (!strcmp(what, "print")) {
		/* Each line takes a millisecond of a processor, three calls and the write, and the first touch of a page. */
		char *memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(memory, 64 << 20, MADV_NOHUGEPAGE);
		for (int n = 0; n < (int)amount; n++) {
			compute(0.001);
			for (int call = 0; call < 3; call++) getppid();
			memory[4096LL * n] = 1;
			write(1, "a line\n", 7);
		}
	} else if (!strcmp(what, "naps")) {
		/* A millisecond each. */
		for (int n = 0; n < (int)amount; n++) {
			double from = now(CLOCK_MONOTONIC);
			nap(0.001);
			waited += now(CLOCK_MONOTONIC) - from;
		}
	} else if (!strcmp(what, "forks")) {
		for (int n = 0; n < (int)amount; n++) {
			if (!fork()) _exit(0);
			wait(NULL);
		}
	} else if (!strcmp(what, "opens")) {
		for (int n = 0; n < (int)amount; n++)
			close(open(words[3], O_RDONLY));
	} else if (!strcmp(what, "firsts")) {
		/* Of each file a read, and then a touch of a mapping: the read alone is the first look. */
		for (int again = 0; again < 2; again++)
			for (int n = 0; n < (int)amount; n++) {
				char name[32], *page;
				snprintf(name, sizeof name, "first%d", n);
				int file = open(name, O_RDONLY);
				double from = now(CLOCK_MONOTONIC);
				if (read(file, &byte, 1) != 1) { perror(name); return 1; }
				if (!again) waited += now(CLOCK_MONOTONIC) - from;
				page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
				byte = *(volatile char *)page;
				munmap(page, 4096);
				close(file);
			}
	} else if (!strcmp(what, "major")) {
		/* Touches pages of a cold file, each of which has to be read. */
		int file = open(words[3], O_RDONLY);
		size_t bytes = (size_t)amount * 4096;
		char *pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
		if (pages == MAP_FAILED) { perror(words[3]); return 1; }
		madvise(pages, bytes, MADV_RANDOM);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		for (size_t at = 0; at < bytes; at += 4096) {
			double from = now(CLOCK_MONOTONIC);
			byte = *(volatile char *)(pages + at);
			waited += now(CLOCK_MONOTONIC) - from;
		}
	} else if (!strcmp(what, "direct")) {
		/* Reads of a page each, past the page cache. */
		int file = open(words[3], O_RDONLY | O_DIRECT);
		void *page;
		if (file < 0 || posix_memalign(&page, 4096, 4096)) { perror(words[3]); return 1; }
		for (int n = 0; n < (int)amount; n++) {
			begin();
			if (pread(file, page, 4096, 4096LL * n) != 4096) return 1;
			end();
		}
	} else {
		return count > 9;
	}
	printf("waited %.6f\n", waited);
	return 0;
}
