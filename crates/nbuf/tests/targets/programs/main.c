/* The awkward targets: the first argument says which. */
#include "targets.h"

char self_path[4096];
static const struct target *const families[] = { processes, signals, starts, filters, calls, files };

int ended(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *word(long result)
{
	return result >= 0 ? "ok" : strerrorname_np(errno);
}

void rest_ms(long milliseconds)
{
	struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void lines(const char *path, const char *start)
{
	char line[4096];
	FILE *file = fopen(path, "r");
	if (!file) {
		say("%s: %s\n", path, word(-1));
		return;
	}
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, start, strlen(start)))
			say("%s", line);
	fclose(file);
}

pthread_t thread(void *(*run)(void *), void *with)
{
	pthread_t made;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	int failed = pthread_create(&made, &small, run, with);
	if (failed) {
		say("no thread: %s\n", strerrorname_np(failed));
		_exit(99);
	}
	return made;
}

int main(int argc, char **argv)
{
	readlink("/proc/self/exe", self_path, sizeof self_path - 1);
	if (argc > 1 && !strcmp(argv[1], "launch"))
		return launch(argc - 2, argv + 2);
	for (size_t family = 0; argc > 1 && family < sizeof families / sizeof *families; family++)
		for (const struct target *each = families[family]; each->name; each++)
			if (!strcmp(each->name, argv[1]))
				return each->run(argc - 2, argv + 2);
	dprintf(2, "no such target\n");
	return 98;
}
