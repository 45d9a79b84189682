/* SPDX-License-Identifier: MIT
 *
 * package.h - the names of packages to install on this system.
 */
#ifndef ASF_LIB_PACKAGE_H
#define ASF_LIB_PACKAGE_H

/* asf__package: returns `debian`, the name of a Debian package, on Debian and its derivatives;
 * `otherwise` elsewhere.  It reads /etc/os-release by asf__sys. */
__attribute__((visibility("hidden"))) const char *asf__package(const char *debian, const char *otherwise);

#endif
