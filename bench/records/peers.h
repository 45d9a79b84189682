// SPDX-License-Identifier: MIT
//
// peers.h - the libraries that records are compared with, as far as they were installed at build time.
#ifndef ASF_RECORDS_PEERS_H
#define ASF_RECORDS_PEERS_H

#include "workload.h"

void add_xml(std::vector<Way> &all);
void add_protobuf(std::vector<Way> &all);
void add_flatbuffers(std::vector<Way> &all);
void add_capnp(std::vector<Way> &all);
void add_mpi(std::vector<Way> &all);
void add_omniorb(std::vector<Way> &all);

#endif
