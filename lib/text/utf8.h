/* SPDX-License-Identifier: MIT
 *
 * utf8.h - convert UTF-8 and ASCII to wide characters and back, for usual text.  Each call advances both
 * pointers over the text that it converted.  It stops, without an error, at all other text: bytes that are
 * not a character, an incomplete character, an uncommon one (surrogates, beyond U+10FFFF), or the end of the
 * room.
 */
#ifndef ASF_LIB_UTF8_H
#define ASF_LIB_UTF8_H

#include <stddef.h>
#include <wchar.h>

#pragma GCC visibility push(hidden)

/* asf__charset_of_locale: returns the character set of the current locale. */
enum asf__charset { ASF__OTHER_CHARSET, ASF__ASCII, ASF__UTF8 };
enum asf__charset asf__charset_of_locale(void);

void asf__utf8_decode(const char **from, const char *end, wchar_t **to, wchar_t *to_end);
void asf__utf8_encode(const wchar_t **from, const wchar_t *end, char **to, char *to_end);
void asf__ascii_decode(const char **from, const char *end, wchar_t **to, wchar_t *to_end);
void asf__ascii_encode(const wchar_t **from, const wchar_t *end, char **to, char *to_end);
/* asf__utf8_span: returns the number of bytes of the first n characters of valid text, or of all if it
 * has fewer. */
size_t asf__utf8_span(const char *from, const char *end, size_t n);

#pragma GCC visibility pop

#endif
