// SPDX-License-Identifier: MIT
//
// peers.cpp - the list of the other libraries that are installed.
#include "peers.h"

#include <cstdio>

#include "tables.h"

namespace {

struct Peer {
    const char *name, *package;
    void (*add)(std::vector<Way> &);
};

// Libraries that were missing at build time have no add().
const Peer peers[] = {
#ifdef WITH_MPI
    {"MPICH", "", add_mpi},
#else
    {"MPICH", "libmpich-dev", nullptr},
#endif
#ifdef WITH_FLATBUFFERS
    {"FlatBuffers", "", add_flatbuffers},
#else
    {"FlatBuffers", "libflatbuffers-dev, flatbuffers-compiler", nullptr},
#endif
#ifdef WITH_CAPNP
    {"Cap'n Proto", "", add_capnp},
#else
    {"Cap'n Proto", "libcapnp-dev, capnproto", nullptr},
#endif
#ifdef WITH_OMNIORB
    {"omniORB", "", add_omniorb},
#else
    {"omniORB", "libomniorb4-dev, omniidl", nullptr},
#endif
#ifdef WITH_PROTOBUF
    {"protobuf", "", add_protobuf},
#else
    {"protobuf", "libprotobuf-dev, protobuf-compiler", nullptr},
#endif
#ifdef WITH_EXPAT
    {"XML", "", add_xml},
#else
    {"XML", "libexpat1-dev", nullptr},
#endif
};

} // namespace

void add_peers(std::vector<Way> &all) {
    for (const Peer &p : peers)
        if (p.add)
            p.add(all);
        else
            fprintf(stderr, "records: %s is left out: %s was not installed when this was built\n", p.name,
                    p.package);
}

#ifndef WITH_MPI
int mpi_process() {
    return 1;
}
#endif
