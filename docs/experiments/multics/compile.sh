#!/bin/sh
# Makes what the programmers of compile.toml compile, in an empty directory, and a compiler of their own: pages of a
# compiler that others run are charged to others.
set -eu
cd "$1"
mkdir tools
cp "$(gcc -print-prog-name=cc1)" "$(realpath "$(command -v as)")" tools/
mv tools/*-as tools/as 2>/dev/null || true
for file in 1 2 3 4 5 6 7 8; do
    {
        echo '#include <stdio.h>'
        echo '#include <stdlib.h>'
        echo '#include <string.h>'
        for function in $(seq $((file * 4))); do
            echo "int f$function(int a, int *b) { for (int i = 0; i < a; i++) b[i] += i * $function; return b[a / 2]; }"
        done
    } >"$file.c"
done
