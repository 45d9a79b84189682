// SPDX-License-Identifier: MIT
//
// workload.cpp - the measured records, and the clock.
#include "workload.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

static const asf_record_field item_fields[] = {
    ASF_FIELD(INT, struct Item, id),          ASF_FIELD(FLOAT, struct Item, weight),
    ASF_FIELD(FLOAT, struct Item, value),     ASF_FIELD(INT, struct Item, stamp),
    ASF_FIELD_ARRAY(INT, struct Item, codes),
};
const asf_record_type item_type = ASF_RECORD_TYPE("item", struct Item, item_fields);

static const asf_record_field head_fields[] = {
    ASF_FIELD(INT, struct Head, sequence),
    ASF_FIELD(FLOAT, struct Head, time),
    ASF_FIELD(INT, struct Head, source),
    ASF_FIELD(UINT, struct Head, count),
    ASF_FIELD_STRUCT_DYNAMIC(struct Head, items, count, &item_type),
    ASF_FIELD_ARRAY(FLOAT, struct Head, scale),
    ASF_FIELD(INT, struct Head, kind),
    ASF_FIELD(INT, struct Head, state),
};
const asf_record_type head_type = ASF_RECORD_TYPE("head", struct Head, head_fields);

// Values like measured data: every bit of a mantissa is used.
static std::vector<Item> make_items() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> real(-1000, 1000);
    std::vector<Item> all(items_of(sizes.back()));
    int32_t id = 0;
    for (Item &item : all) {
        const auto code = [&] { return static_cast<int16_t>(random()); };
        item = {id++,
                static_cast<float>(real(random)),
                real(random),
                static_cast<int64_t>(random() % 2000000000),
                {code(), code(), code(), code()}};
    }
    return all;
}

Head make_head(uint32_t items) {
    static std::vector<Item> all = make_items();
    return {12345, 1.7320508075688772, 7, items, all.data(), {0.1, 1.0 / 3, 2.718281828459045}, 4, 5};
}

double measure(const std::function<void()> &call, double seconds) {
    using clock = std::chrono::steady_clock;
    const auto time = [&](size_t n) {
        const auto begin = clock::now();
        for (size_t i = 0; i < n; i++)
            call();
        return std::chrono::duration<double, std::nano>(clock::now() - begin).count();
    };
    size_t n = 1;
    while (time(n) < 2e5)
        n *= 2;
    std::vector<double> samples;
    for (double spent = 0; spent < seconds * 1e9 || samples.size() < 5;) {
        const double ns = time(n);
        spent += ns;
        samples.push_back(ns / static_cast<double>(n));
    }
    std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2),
                     samples.end());
    return samples[samples.size() / 2];
}

void give_up(const char *what) {
    fprintf(stderr, "records: %s: %s\n", what, asf_record_why());
    exit(1);
}
