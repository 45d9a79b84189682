#include "workload.h"
void add_peers(std::vector<Way> &all) {
    (void)all;
}
