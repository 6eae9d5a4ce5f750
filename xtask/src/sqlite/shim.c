/*
** Has a program of SQLite's tests use the extension in each sqlite3_initialize(), if NBUF_SQLITE_LIBRARY names
** it. The tests open their databases by plain names, so the VFS becomes the default.
*/
#define SQLITE_CORE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"
#include "sqlite3ext.h"

typedef int (*entry_point)(sqlite3 *, char **, const sqlite3_api_routines *);

int nbuf_extra_init(const char *unused) {
    static sqlite3_api_routines routines;
    const char *path = getenv("NBUF_SQLITE_LIBRARY");
    char *error = NULL;
    (void)unused;
    if (path == NULL || path[0] == '\0') {
        return SQLITE_OK;
    }
    routines.free = sqlite3_free;
    routines.libversion_number = sqlite3_libversion_number;
    routines.log = sqlite3_log;
    routines.malloc64 = sqlite3_malloc64;
    routines.uri_parameter = sqlite3_uri_parameter;
    routines.vfs_find = sqlite3_vfs_find;
    routines.vfs_register = sqlite3_vfs_register;
    void *library = dlopen(path, RTLD_NOW);
    entry_point entry = library ? (entry_point)dlsym(library, "sqlite3_nbufdefault_init") : NULL;
    if (entry == NULL) {
        fprintf(stderr, "nbuf: %s\n", dlerror());
        return SQLITE_ERROR;
    }
    int code = entry(NULL, &error, &routines) & 0xff;
    if (code != SQLITE_OK) {
        fprintf(stderr, "nbuf: %s\n", error ? error : "no reason given");
    }
    return code;
}
