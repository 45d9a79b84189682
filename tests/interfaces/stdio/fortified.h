/* SPDX-License-Identifier: MIT
 *
 * fortified.h - included first in the fortified variant of a theme. A compiler's wrapper, such as ccache,
 * may change the order of options that define and undefine the macro.
 */
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
