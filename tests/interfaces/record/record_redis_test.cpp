// SPDX-License-Identifier: MIT
//
// record_redis_test.cpp - formats in a Redis server, which the test starts on a private socket.
#include <asf/record_redis.h>
#include <csignal>
#include <sys/wait.h>

#include "record_test.h"

namespace record {
namespace {

// Runs the server by either of its names. Debian's redis-tools contains the same program as redis-check-rdb.
// The package redis-server would also start a service. The program chooses its role by argv[0].
class Redis : public testing::TestWithParam<const char *> {
  protected:
    void SetUp() override {
        if (system((std::string("command -v ") + GetParam() + " >/dev/null").c_str()) != 0)
            GTEST_SKIP() << GetParam() << " is not installed";
        ASSERT_NE(mkdtemp(directory.data()), nullptr);
        start();
    }
    void TearDown() override {
        stop();
        EXPECT_EQ(system(("rm -rf " + directory).c_str()), 0);
    }
    void start() {
        server = fork();
        if (server == 0) {
            if (!freopen("/dev/null", "w", stdout))
                _exit(126);
            execlp(GetParam(), "redis-server", "--port", "0", "--unixsocket", socket().c_str(), "--save", "",
                   "--dir", directory.c_str(), nullptr);
            _exit(127);
        }
        for (int i = 0; i < 1000 && access(socket().c_str(), F_OK) != 0; i++)
            usleep(10000);
    }
    void stop() {
        if (server > 0) {
            kill(server, SIGTERM);
            waitpid(server, nullptr, 0);
        }
        server = 0;
    }
    std::string socket() const { return directory + "/socket"; }
    asf_record_store *open() const {
        asf_record_store *s = nullptr;
        for (int i = 0; i < 100 && asf_record_store_redis(socket().c_str(), 5000, &s) != 0; i++)
            usleep(20000);
        EXPECT_NE(s, nullptr);
        return s;
    }

  private:
    std::string directory = "/tmp/asf-redis-XXXXXX";
    pid_t server = 0;
};

TEST_P(Redis, keeps_formats_for_others) {
    const Format f(sample_type);
    asf_record_store *a = open(), *b = open();
    Format found;
    EXPECT_EQ(asf_record_store_get(b, asf_record_hash(f), found.out()), -ENOENT) << asf_record_why();
    ASSERT_EQ(asf_record_store_put(a, f), 0) << asf_record_why();
    ASSERT_EQ(asf_record_store_get(b, asf_record_hash(f), found.out()), 0) << asf_record_why();
    EXPECT_EQ(found.description(), f.description());
    asf_record_store_free(a);
    asf_record_store_free(b);
}

TEST_P(Redis, is_connected_to_again) {
    const Format f(sample_type), g(point_type);
    asf_record_store *s = open();
    stop();
    EXPECT_EQ(asf_record_store_put(s, f), -ECONNREFUSED);
    start();
    int rc = -1;
    for (int i = 0; i < 100 && rc < 0; i++, usleep(20000))
        rc = asf_record_store_put(s, g);
    EXPECT_EQ(rc, 0) << asf_record_why();
    asf_record_store_free(s);
}

TEST_P(Redis, that_lies_is_not_believed) {
    const Format f(sample_type);
    asf_record_store *s = open();
    std::string key = "asf:format:";
    for (int i = 0; i < 16; i++) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", asf_record_hash(f)[i]);
        key += hex;
    }
    if (system("command -v redis-cli >/dev/null") == 0) {
        ASSERT_EQ(system(("redis-cli -s " + socket() + " set " + key + " nonsense >/dev/null").c_str()), 0);
        Format found;
        EXPECT_EQ(asf_record_store_get(s, asf_record_hash(f), found.out()), -EBADMSG);
    }
    asf_record_store_free(s);
}

INSTANTIATE_TEST_SUITE_P(Redis, Redis, testing::Values("redis-server", "redis-check-rdb"));

TEST(RedisNames, that_are_none_are_refused) {
    asf_record_store *s;
    for (const char *server : {"", ":1", "host:", "host:x", "host:70000", "host:-1"})
        EXPECT_EQ(asf_record_store_redis(server, 100, &s), -EINVAL) << server;
    EXPECT_EQ(asf_record_store_redis("/tmp/no/such/socket", 100, &s), -ENOENT);
}

} // namespace
} // namespace record
