// SPDX-License-Identifier: MIT
//
// tables.h - the tables of the evaluation, measured, printed, and remembered for
// what is said of them at the end.
#ifndef ASF_RECORDS_TABLES_H
#define ASF_RECORDS_TABLES_H

#include "workload.h"

// Whether a table is wanted; if so it begins.
bool begin_table(const std::string &title);

// A row: a figure for each size, below 0 where there is none.  It is asked for
// when the table ends, several times, in turn with the others; the least counts.
void add_row(const std::string &name, const std::function<double(size_t)> &ns, const std::string &moves);
void end_table();

// The figure of a row of a table whose title begins so; below 0: not measured.
double figure(const std::string &title, const std::string &name, size_t size);

// Tables with this in their titles are wanted alone.
extern std::string only;

// The parts of the evaluation.
void conversion_tables(std::vector<Way> &all);
void trip_tables(std::vector<Way> &all);
double format_table(); // nanoseconds to match and plan; below 0: not measured

// The round trips of MPICH between two processes of mpiexec: its own process's part.
int mpi_process();

#endif
