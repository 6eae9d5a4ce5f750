/* Does known work in known functions. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void library_computes(long rounds);

/* The same loop as in the library. */
__attribute__((noinline)) void program_computes(long rounds)
{
	for (volatile long n = 0; n < rounds; n++)
		;
}

static double cpu(void)
{
	struct timespec at;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

int main(int count, char **words)
{
	const char *what = words[1];
	if (!strcmp(what, "compute")) {
		/* Three times as long in the program as in the library. */
		double end = cpu() + atof(words[2]), program = 0, library = 0;
		while (cpu() < end) {
			double from = cpu();
			program_computes(300000);
			double between = cpu();
			library_computes(100000);
			program += between - from;
			library += cpu() - between;
		}
		fprintf(stderr, "program %.6f\nlibrary %.6f\n", program, library);
	} else if (!strcmp(what, "child")) {
		if (!fork()) {
			execl(words[0], "other", "compute", words[2], NULL);
			_exit(1);
		}
		wait(NULL);
	} else if (!strcmp(what, "map")) {
		/* A fault for each page of a cold file, each of which has to be read. */
		int file = open(words[3], O_RDONLY);
		size_t bytes = atol(words[2]) * 4096;
		volatile char *pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
		if (pages == MAP_FAILED) { perror(words[3]); return 1; }
		madvise((void *)pages, bytes, MADV_RANDOM);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		for (size_t at = 0; at < bytes; at += 4096)
			(void)pages[at];
	} else if (!strcmp(what, "flood")) {
		/* Faults without an end, for these seconds. */
		double end = cpu() + atof(words[2]);
		size_t bytes = 256 * 4096;
		puts("flooding");
		fflush(stdout);
		while (cpu() < end) {
			char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(pages, bytes, MADV_NOHUGEPAGE);
			for (size_t at = 0; at < bytes; at += 4096)
				pages[at] = 1;
			munmap(pages, bytes);
		}
	} else if (!strcmp(what, "generate")) {
		/* Compiles a loop, and lists it as just-in-time compilers do. */
		static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 }; /* 1: dec rdi; jnz 1b; ret */
		char *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(pages + 64, code, sizeof code);
		mprotect(pages, 4096, PROT_READ | PROT_EXEC);
		if (count > 3) {
			char name[64];
			snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
			FILE *list = fopen(name, "wx");
			fprintf(list, "%lx 40 before it\n%lx %zx generated loop\n", (long)pages, (long)pages + 64, sizeof code);
			fclose(list);
			fprintf(stderr, "list %s\n", name);
		}
		double end = cpu() + atof(words[2]);
		while (cpu() < end)
			((void (*)(long))(pages + 64))(1000000);
	} else if (!strcmp(what, "unlink")) {
		unlink(words[3]);
		library_computes(atol(words[2]));
	}
	return count > 9;
}
