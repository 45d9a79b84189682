/* SPDX-License-Identifier: MIT
 *
 * package.h - what to install, as this system calls it.
 */
#ifndef ASF_LIB_PACKAGE_H
#define ASF_LIB_PACKAGE_H

/* asf__package: returns `debian`, the name of a Debian package, on Debian and its kin; `otherwise` elsewhere.
 * It reads /etc/os-release by asf__sys. */
__attribute__((visibility("hidden"))) const char *asf__package(const char *debian, const char *otherwise);

#endif
