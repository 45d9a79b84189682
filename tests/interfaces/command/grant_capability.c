/* SPDX-License-Identifier: MIT
 *
 * grant_capability.c - grant_capability FILE: gives FILE the capability CAP_NET_BIND_SERVICE, as setcap(8)
 * does. For the tests of the asf command.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <sys/xattr.h>

int main(int argc, char **argv) {
    struct vfs_cap_data granted = {
        .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
        .data[0].permitted = 1 << CAP_NET_BIND_SERVICE,
    };
    if (argc != 2 || setxattr(argv[1], "security.capability", &granted, sizeof granted, 0) != 0) {
        perror("setxattr");
        return 1;
    }
    return 0;
}
