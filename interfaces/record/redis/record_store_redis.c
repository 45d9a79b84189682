/* SPDX-License-Identifier: MIT
 *
 * record_store_redis.c - a format store in a Redis server, by hiredis.
 */
#define _GNU_SOURCE
#include <asf/record_redis.h>

#include <errno.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 6379, KEY = 64 };

struct server {
    redisContext *context;
    pthread_mutex_t lock; /* a connection can serve one thread at a time */
};

static void key_of(char key[KEY], const unsigned char hash[16]) {
    int n = snprintf(key, KEY, "asf:format:");
    for (int i = 0; i < 16; i++)
        n += snprintf(key + n, (size_t)(KEY - n), "%02x", hash[i]);
}

/* Returns the connection's error as a negated errno value. */
static int error_of(const redisContext *c) {
    if (c->err == REDIS_ERR_IO && errno > 0)
        return -errno;
    return c->err == REDIS_ERR_OOM ? -ENOMEM : -EIO;
}

/* Returns the error of a lost connection.  If the server's socket is missing, that is -ECONNREFUSED, because
 * -ENOENT would mean that the format is missing. */
static int loss_of(const redisContext *c) {
    int rc = error_of(c);
    return rc == -ENOENT ? -ECONNREFUSED : rc;
}

static redisReply *ask_once(struct server *s, const char *format, const char *key, const void *value,
                            size_t length) {
    return value ? redisCommand(s->context, format, key, value, length)
                 : redisCommand(s->context, format, key);
}

/* Sends a command, and once more after reconnecting if the connection was lost.  hiredis writes without
 * MSG_NOSIGNAL, so this blocks SIGPIPE and removes a SIGPIPE that the write raised. */
static redisReply *ask(struct server *s, const char *format, const char *key, const void *value,
                       size_t length) {
    static const struct timespec now = {0, 0};
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    redisReply *reply = ask_once(s, format, key, value, length);
    if (!reply && redisReconnect(s->context) == REDIS_OK)
        reply = ask_once(s, format, key, value, length);
    int error = errno; /* for error_of */
    if (!sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return reply;
}

static ssize_t load(void *data, const unsigned char hash[16], void *description, size_t room) {
    struct server *s = data;
    char key[KEY];
    int saved = errno;
    ssize_t rc;
    key_of(key, hash);
    pthread_mutex_lock(&s->lock);
    redisReply *reply = ask(s, "GET %s", key, NULL, 0);
    if (!reply) {
        rc = loss_of(s->context);
    } else if (reply->type == REDIS_REPLY_STRING) {
        rc = (ssize_t)reply->len;
        memcpy(description, reply->str, reply->len < room ? reply->len : room);
        if (reply->len > room)
            rc = -E2BIG;
    } else {
        rc = reply->type == REDIS_REPLY_NIL ? -ENOENT : -EIO;
    }
    freeReplyObject(reply);
    pthread_mutex_unlock(&s->lock);
    errno = saved;
    return rc;
}

static int save(void *data, const unsigned char hash[16], const void *description, size_t length) {
    struct server *s = data;
    char key[KEY];
    int saved = errno;
    key_of(key, hash);
    pthread_mutex_lock(&s->lock);
    redisReply *reply = ask(s, "SET %s %b", key, description, length);
    int rc = !reply ? loss_of(s->context) : reply->type == REDIS_REPLY_ERROR ? -EIO : 0;
    freeReplyObject(reply);
    pthread_mutex_unlock(&s->lock);
    errno = saved;
    return rc;
}

static void close_store(void *data) {
    struct server *s = data;
    redisFree(s->context);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const struct asf_record_store_ops operations = {.size = sizeof operations,
                                                       .version = ASF_RECORD_STORE_VERSION,
                                                       .name = "redis",
                                                       .load = load,
                                                       .save = save,
                                                       .close = close_store};

static bool is_path(const char *server) {
    return strchr(server, '/') != NULL;
}

/* Connects to "HOST" or "HOST:PORT". */
static redisContext *connect_to_host(const char *server, struct timeval timeout) {
    char host[256];
    const char *colon = strrchr(server, ':');
    size_t n = colon ? (size_t)(colon - server) : strlen(server);
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : PORT;
    if (n == 0 || n >= sizeof host || port <= 0 || port > 65535 || (end && *end))
        return NULL;
    memcpy(host, server, n);
    host[n] = '\0';
    return redisConnectWithTimeout(host, (int)port, timeout);
}

static int connected(redisContext *c, struct timeval timeout) {
    if (!c)
        return -EINVAL;
    if (c->err)
        return error_of(c);
    return redisSetTimeout(c, timeout) == REDIS_OK ? 0 : error_of(c);
}

int asf_record_store_redis(const char *server, int timeout, struct asf_record_store **store) {
    int saved = errno, wait = timeout > 0 ? timeout : 1000;
    struct timeval limit = {wait / 1000, (suseconds_t)(wait % 1000) * 1000};
    *store = NULL;
    redisContext *c =
        is_path(server) ? redisConnectUnixWithTimeout(server, limit) : connect_to_host(server, limit);
    struct server *s = calloc(1, sizeof *s);
    int rc = s ? connected(c, limit) : -ENOMEM;
    if (rc == 0) {
        s->context = c;
        pthread_mutex_init(&s->lock, NULL);
        rc = asf_record_store_with(&operations, s, store);
    }
    if (rc < 0) {
        if (c)
            redisFree(c);
        free(s);
    }
    errno = saved;
    return rc;
}
