/* Keeps MIB of memory and reads FILE, TIMES over. Static, so that it is all of a container's image. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 4) return 2;
    size_t kept = (size_t)atoi(words[3]) << 20;
    char *memory = malloc(kept + 1);
    static char block[1 << 16];
    if (!memory) return 3;
    memset(memory, 1, kept + 1);
    for (int times = atoi(words[2]); times > 0; times--) {
        int file = open(words[1], O_RDONLY);
        if (file < 0) return 4;
        while (read(file, block, sizeof block) > 0) {}
        close(file);
    }
    return memory[kept] == 1 ? 0 : 5;
}
