/* Files and the ways to read, map, lock and pass them. */
#include "targets.h"
#include <sys/file.h>
#include <sys/sendfile.h>

/* Without a name, of this many pages. */
static int made(int pages)
{
	static char page[4096];
	int file = open("made", O_CREAT | O_RDWR | O_TRUNC, 0600);
	unlink("made");
	for (int i = 0; i < pages; i++) {
		memset(page, 'a' + i % 26, sizeof page);
		write(file, page, sizeof page);
	}
	lseek(file, 0, SEEK_SET);
	return file;
}

static int moves(int argc, char **argv)
{
	(void)argc, (void)argv;
	int file = made(16), other = made(0), ends[2], two[2];
	off64_t at = 4096;
	char byte = 0;
	pipe(ends), pipe(two);
	say("sendfile %zd\n", sendfile(other, file, &(off_t){ 0 }, 8192));
	say("copy %zd\n", copy_file_range(file, &at, other, 0, 8192, 0));
	say("splice %zd\n", splice(file, &at, ends[1], 0, 4096, 0));
	say("tee %zd\n", tee(ends[0], two[1], 4096, 0));
	say("out %zd\n", splice(ends[0], 0, other, 0, 4096, 0));
	struct iovec some = { "vector", 6 };
	say("vmsplice %zd\n", vmsplice(ends[1], &some, 1, 0));
	pread(other, &byte, 1, 20000);
	say("byte %c, ", byte);
	say("length %ld\n", (long)lseek(other, 0, SEEK_END));
	return 0;
}

static int maps(int argc, char **argv)
{
	(void)argc, (void)argv;
	int file = made(32);
	char *at = mmap(0, 32 << 12, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	say("advice %s\n", word(madvise(at, 32 << 12, MADV_RANDOM)));
	at[5 << 12] = 'X';
	char *moved = mremap(at, 32 << 12, 64 << 12, MREMAP_MAYMOVE);
	say("moved %c %c\n", moved[5 << 12], moved[6 << 12]);
	ftruncate(file, 64 << 12);
	moved[63 << 12] = 'Y';
	say("dropped %s\n", word(madvise(moved, 64 << 12, MADV_DONTNEED)));
	say("paged out %s\n", word(madvise(moved, 64 << 12, MADV_PAGEOUT)));
	say("again %c %c\n", moved[5 << 12], moved[63 << 12]);
	say("hole %s\n", word(madvise(moved, 4096, MADV_REMOVE)));
	say("synced %s\n", word(msync(moved, 64 << 12, MS_SYNC)));
	say("protected %s\n", word(mprotect(moved, 4096, PROT_READ)));
	char *own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
	say("%s\n", own == MAP_FAILED ? word(-1) : "mapped");
	return 0;
}

static int locks(int argc, char **argv)
{
	(void)argc, (void)argv;
	int file = open("locked", O_CREAT | O_RDWR, 0600);
	struct flock whole = { .l_type = F_WRLCK };
	say("flock %s\n", word(flock(file, LOCK_EX)));
	say("OFD %s\n", word(fcntl(file, F_OFD_SETLK, &whole)));
	struct flock first = { .l_type = F_WRLCK, .l_len = 1, .l_start = 100 };
	int other = open("locked2", O_CREAT | O_RDWR, 0600);
	say("POSIX %s\n", word(fcntl(other, F_SETLK, &first)));
	pid_t us = getpid(), child = fork();
	if (child == 0) {
		int mine = open("locked", O_RDWR), second = open("locked2", O_RDWR);
		struct flock asked = { .l_type = F_WRLCK };
		say("another: %s, ", word(flock(mine, LOCK_EX | LOCK_NB)));
		say("%s, ", word(fcntl(mine, F_OFD_SETLK, &whole)));
		fcntl(second, F_GETLK, &asked);
		say("of its parent %d\n", asked.l_pid == us);
		fcntl(second, F_SETLKW, &first);
		_exit(0);
	}
	rest_ms(30);
	close(other);
	unlink("locked"), unlink("locked2");
	return ended(child);
}

static int paths(int argc, char **argv)
{
	(void)argc, (void)argv;
	char byte, name[64];
	int file = made(1), only = open("/etc/passwd", O_PATH), directory = open(".", O_PATH | O_DIRECTORY);
	say("read %s\n", word(read(only, &byte, 1)));
	snprintf(name, sizeof name, "/proc/self/fd/%d", only);
	int opened = open(name, O_RDONLY);
	say("opened %s, read %s\n", word(opened), word(read(opened, &byte, 1)));
	say("made %s\n", word(openat(directory, "x", O_CREAT | O_WRONLY | O_TRUNC, 0600)));
	say("renamed %s\n", word(renameat(directory, "x", directory, "y")));
	say("cut %s\n", word(truncate("y", 100)));
	say("linked %s\n", word(linkat(directory, "y", directory, "z", 0)));
	say("swapped %s\n", word(renameat2(directory, "y", directory, "z", RENAME_EXCHANGE)));
	say("removed %s\n", word(unlinkat(directory, "y", 0) | unlink("z")));
	say("no address %s\n", word(unlink((char *)8)));
	say("none %s\n", word(pread(99, &byte, 1, 0)));
	say("nowhere %s\n", word(read(file, (char *)8, 1)));
	say("directory %s\n", word(read(open(".", O_RDONLY), &byte, 1)));
	struct iovec bad = { (void *)8, 1 };
	say("vector %s\n", word(readv(file, &bad, 1)));
	say("many %s\n", word(readv(file, (struct iovec *)8, 5000)));
	return 0;
}

static int direct(int argc, char **argv)
{
	(void)argc, (void)argv;
	int file = open("direct", O_CREAT | O_RDWR | O_DIRECT | O_SYNC, 0600);
	unlink("direct");
	void *page = aligned_alloc(4096, 8192);
	memset(page, 'd', 8192);
	say("write %zd\n", pwrite(file, page, 8192, 0));
	say("read %zd\n", pread(file, page, 8192, 0));
	say("crooked %s\n", word(pread(file, (char *)page + 1, 8191, 0)));
	say("allocated %s\n", word(fallocate(file, 0, 8192, 1 << 20)));
	say("hole %s\n", word(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096)));
	say("data at %ld\n", (long)lseek(file, 0, SEEK_DATA));
	return 0;
}

/* A descriptor and who sends it, over a socket. */
static int passes(int argc, char **argv)
{
	(void)argc, (void)argv;
	int pair[2], on = 1;
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	char control[256] = { 0 }, buffer[4] = "";
	struct iovec byte = { buffer, 4 };
	struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control };
	pid_t child = fork();
	if (child == 0) {
		int file = made(1);
		message.msg_controllen = CMSG_SPACE(sizeof file);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof file);
		memcpy(CMSG_DATA(head), &file, sizeof file);
		_exit(sendmsg(pair[1], &message, 0) == 4 ? 0 : 1);
	}
	message.msg_controllen = sizeof control;
	say("got %zd\n", recvmsg(pair[0], &message, 0));
	for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
		if (head->cmsg_type == SCM_CREDENTIALS) {
			struct ucred *who = (void *)CMSG_DATA(head);
			say("from the child %d, user %d\n", who->pid == child, who->uid == getuid());
		} else {
			int file;
			memcpy(&file, CMSG_DATA(head), sizeof file);
			ssize_t got = pread(file, buffer, 4, 0);
			say("a file %zd %c\n", got, buffer[0]);
		}
	}
	return ended(child);
}

const struct target files[] = {
	{ "moves", moves }, { "maps", maps }, { "locks", locks }, { "paths", paths }, { "direct", direct },
	{ "passes", passes }, { 0, 0 },
};
