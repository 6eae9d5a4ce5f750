/* The bare loops that paths are held against: what a C program does, without anything of nbuf.
 *
 *   bare FILE read|fgetc BLOCK OPERATIONS
 *
 * Each line on standard input runs the loop once from the beginning of the file; the answer is the
 * sum of first bytes and the nanoseconds that it took. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static unsigned long read_loop(int file, unsigned char *buffer, size_t block, long operations)
{
	unsigned long sum = 0;
	if (lseek(file, 0, SEEK_SET) != 0)
		exit(1);
	for (long number = 0; number < operations; number++) {
		if (read(file, buffer, block) != (ssize_t)block)
			exit(1);
		sum += buffer[0];
	}
	return sum;
}

static unsigned long fgetc_loop(FILE *stream, long operations)
{
	unsigned long sum = 0;
	if (fseek(stream, 0, SEEK_SET) != 0)
		exit(1);
	for (long number = 0; number < operations; number++) {
		int byte = fgetc(stream);
		if (byte == EOF)
			exit(1);
		sum += (unsigned long)byte;
	}
	return sum;
}

int main(int count, char **arguments)
{
	if (count != 5)
		return 2;
	int is_read = strcmp(arguments[2], "read") == 0;
	size_t block = strtoul(arguments[3], NULL, 10);
	long operations = strtol(arguments[4], NULL, 10);
	int file = open(arguments[1], O_RDONLY);
	FILE *stream = is_read ? NULL : fdopen(file, "r");
	/* From a page on, as the buffer of a path. */
	unsigned char *buffer = aligned_alloc(4096, (block + 4095) / 4096 * 4096);
	if (file < 0 || (!is_read && !stream) || !buffer)
		return 1;
	char line[16];
	while (fgets(line, sizeof line, stdin)) {
		long long begin = now_ns();
		unsigned long sum = is_read ? read_loop(file, buffer, block, operations)
					    : fgetc_loop(stream, operations);
		long long end = now_ns();
		printf("%lu %lld\n", sum, end - begin);
		fflush(stdout);
	}
	return 0;
}
