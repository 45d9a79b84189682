// SPDX-License-Identifier: MIT
//
// tables.h - the tables of the evaluation: measured, printed, and stored for the summary.
#ifndef ASF_RECORDS_TABLES_H
#define ASF_RECORDS_TABLES_H

#include "workload.h"

// begin_table: begin a table, unless `only` excludes it; returns whether it began.
bool begin_table(const std::string &title);

// add_row: ns() returns the figure for a size, below 0 if there is none.  end_table calls the ns() of all
// rows in turn, several times; the least figure counts.
void add_row(const std::string &name, const std::function<double(size_t)> &ns, const std::string &moves);
void end_table();

// figure: the figure of a row in the table whose title begins with `title`; below 0: not measured.
double figure(const std::string &title, const std::string &name, size_t size);

// If not empty, only tables whose titles contain this are measured.
extern std::string only;

// The parts of the evaluation.
void conversion_tables(std::vector<Way> &all);
void trip_tables(std::vector<Way> &all);
double format_table(); // nanoseconds to match and plan; below 0: not measured

// mpi_process: the round trips of MPICH, in each of the two processes that mpiexec starts.
int mpi_process();

#endif
