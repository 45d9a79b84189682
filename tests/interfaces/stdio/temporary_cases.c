/* SPDX-License-Identifier: MIT
 *
 * temporary_cases.c - tmpfile, tmpnam, tempnam, remove, rename, ctermid.
 */
#include "transcript.h"

CASE(temporary_file) {
    FILE *f = CALL(tmpfile());
    struct stat st;
    fstat(fileno(f), &st);
    say("links %d mode %x flags %d", (int)st.st_nlink, st.st_mode, fcntl(fileno(f), F_GETFL) & O_ACCMODE);
    CALL(fputs("kept for now", f));
    rewind(f);
    char text[30];
    CALL(fgets(text, sizeof text, f));
    CALL(fseek(f, 4, SEEK_SET));
    CALL(fputs("XYZ", f));
    rewind(f);
    CALL(fgets(text, sizeof text, f));
    CALL(fclose(f));
    f = CALL(tmpfile64());
    CALL(fclose(f));
}

CASE(temporary_names) {
    char name[L_tmpnam];
    char *made = tmpnam(name);
    say("starts %d length %d", strncmp(made, "/tmp/file", 9) == 0, (int)strlen(made));
#ifdef __GLIBC__ /* musl lacks this interface */
    made = tmpnam_r(name);
    say("starts %d", strncmp(made, "/tmp/file", 9) == 0);
    CALL(tmpnam_r(NULL));
#endif
    made = tempnam(".", "abc");
    say("tempnam %d", made && (strncmp(made, "./abc", 5) == 0 || strncmp(made, "/tmp/abc", 8) == 0));
    free(made);
}

CASE(remove_and_rename) {
    put_text("file", "text");
    mkdir("directory", 0755);
    CALL(rename("file", "other"));
    CALL(remove("file"));
    CALL(remove("other"));
    CALL(remove("directory"));
    CALL(rename("missing", "other"));
    CALL(renameat(AT_FDCWD, "missing", AT_FDCWD, "other"));
}

CASE(names_of_terminals_and_users) {
    char name[L_ctermid];
    CALL(ctermid(name));
    CALL(ctermid(NULL));
    CALL(cuserid(NULL) != NULL);
}
