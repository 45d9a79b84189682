/* SPDX-License-Identifier: MIT
 *
 * fortified.h - before all else in the fortified variant of a theme.  A compiler's wrapper, as ccache, may
 * change the order of options that define and undefine it.
 */
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
