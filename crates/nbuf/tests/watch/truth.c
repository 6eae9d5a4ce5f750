/* Does what each line of standard input says, and answers with what it measured itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec at;
	clock_gettime(clock, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

/* Seconds in which this process could run and had no processor. */
static double delayed(void)
{
	static char text[128];
	int file = open("/proc/self/schedstat", O_RDONLY);
	ssize_t got = read(file, text, sizeof text - 1);
	close(file);
	char *rest = text;
	if (got > 0)
		strtod(rest, &rest);
	return strtod(rest, NULL) / 1e9;
}

/* Pages that were never touched. */
static char *fresh;

int main(void)
{
	static char line[4096], answer[64];
	size_t bytes = 1 << 28;
	fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(fresh, bytes, MADV_NOHUGEPAGE);
	ssize_t got;
	while ((got = read(0, line, sizeof line - 1)) > 0) {
		line[got - 1] = 0;
		char *rest = strchr(line, ' ');
		double amount = rest ? strtod(rest, &rest) : 0, measured = 0;
		if (!strncmp(line, "touch", 5)) {
			for (int n = 0; n < (int)amount; n++, fresh += 4096)
				*fresh = 1;
			measured = amount;
		} else if (!strncmp(line, "compute", 7)) {
			double end = now(CLOCK_THREAD_CPUTIME_ID) + amount;
			while (now(CLOCK_THREAD_CPUTIME_ID) < end)
				;
			measured = amount;
		} else if (!strncmp(line, "direct", 6)) {
			/* Reads of a page each, past the page cache: what it waited is neither
			   what it ran nor what it waited for a processor. */
			static char page[8192] __attribute__((aligned(4096)));
			int file = open(rest + 1, O_RDONLY | O_DIRECT);
			double since = now(CLOCK_MONOTONIC), ran = now(CLOCK_THREAD_CPUTIME_ID);
			double late = delayed();
			for (int n = 0; n < (int)amount; n++)
				if (pread(file, page, 4096, 4096LL * n) != 4096)
					return 1;
			measured = now(CLOCK_MONOTONIC) - since - (now(CLOCK_THREAD_CPUTIME_ID) - ran) - (delayed() - late);
			close(file);
		}
		int length = snprintf(answer, sizeof answer, "%.6f\n", measured);
		if (write(1, answer, length) != length)
			return 1;
	}
	return 0;
}
