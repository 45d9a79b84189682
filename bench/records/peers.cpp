// SPDX-License-Identifier: MIT
//
// peers.cpp - which of the other libraries there are.
#include "peers.h"

#include <cstdio>

static void left_out(const char *name, const char *package) {
    fprintf(stderr, "records: %s is left out: it was not installed (%s) when this was built\n", name,
            package);
}

void add_peers(std::vector<Way> &all) {
#ifdef WITH_MPI
    add_mpi(all);
#else
    left_out("MPICH", "libmpich-dev");
#endif
#ifdef WITH_FLATBUFFERS
    add_flatbuffers(all);
#else
    left_out("FlatBuffers", "libflatbuffers-dev, flatbuffers-compiler");
#endif
#ifdef WITH_CAPNP
    add_capnp(all);
#else
    left_out("Cap'n Proto", "libcapnp-dev, capnproto");
#endif
#ifdef WITH_OMNIORB
    add_omniorb(all);
#else
    left_out("omniORB", "libomniorb4-dev");
#endif
#ifdef WITH_PROTOBUF
    add_protobuf(all);
#else
    left_out("protobuf", "libprotobuf-dev, protobuf-compiler");
#endif
#ifdef WITH_EXPAT
    add_xml(all);
#else
    left_out("XML", "libexpat1-dev");
#endif
    (void)left_out;
    (void)all;
}
