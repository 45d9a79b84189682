/* SPDX-License-Identifier: MIT
 *
 * tune_writer.c - writes a table as "asf tune" does, without its measurements.
 */
#include "interfaces/command/command_tune.h"

int main(int argc, char **argv) {
    static struct table table = {.library = "0",
                                 .kernel = "Linux 0",
                                 .processor = "none",
                                 .measured = "2026-01-01T00:00:00Z",
                                 .costs = {.map_min = 256 << 10,
                                           .window = 8 << 20,
                                           .buffer = 128 << 10,
                                           .copy = 256 << 10,
                                           .pipe = 512 << 10}};
    if (argc != 2)
        return 1;
    table.path = argv[1];
    asf__tune_write(&table);
    return 0;
}
