/* SPDX-License-Identifier: MIT
 *
 * record_redis.h - a format store in a Redis server, for many machines that share formats.  It is in
 * its own library, libasf_redis (-lasf_redis), which is built where hiredis is installed; no other
 * library of asf needs it.
 */
#ifndef ASF_RECORD_REDIS_H
#define ASF_RECORD_REDIS_H

#include <asf/record_store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* asf_record_store_redis: store formats under the keys "asf:format:" and 32 hexadecimal digits.
 *   server   "HOST", "HOST:PORT" (6379), or the path of a socket, with a slash
 *   timeout  milliseconds for connecting and for each answer; 0: one second
 * returns  0, and the store (asf_record_store_free); -EINVAL; -ECONNREFUSED and
 *          the like; -ENOMEM.  asf_record_why() does not describe these errors.
 * If the connection breaks, each call reconnects once.  Any thread may use the store; its calls run one
 * at a time. */
ASF_EXPORT int asf_record_store_redis(const char *server, int timeout, struct asf_record_store **store);

#ifdef __cplusplus
}
#endif
#endif
