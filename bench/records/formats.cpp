// SPDX-License-Identifier: MIT
//
// formats.cpp - the cost of planning a conversion.
#include <cstdio>

#include "foreign.h"
#include "tables.h"

namespace {

// A struct of 30 numbers, optionally with a field before them.
struct Thirty {
    std::vector<std::string> names;
    std::vector<asf_record_field> fields;
    asf_record_type type = {};
    asf_record_format *format = nullptr;
    explicit Thirty(bool unexpected) {
        for (int i = unexpected ? -1 : 0; i < 30; i++)
            names.push_back(i < 0 ? "unexpected" : "field" + std::to_string(i));
        for (size_t i = 0; i < names.size(); i++)
            fields.push_back({names[i].c_str(), (i + unexpected) % 2 ? ASF_RECORD_INT : ASF_RECORD_FLOAT,
                              ASF_RECORD_SINGLE, 8 * i, 8, 1, nullptr, nullptr, nullptr, 0});
        type = {"thirty", 8 * names.size(), 8, fields.data(), fields.size()};
        if (asf_record_declare(&type, &format) < 0)
            give_up("declare");
    }
};

void match(asf_record_format *wire, asf_record_format *native) {
    asf_record_reader *r;
    if (asf_record_reader_new(nullptr, nullptr, &r) < 0 || asf_record_match(r, wire, native, nullptr) < 0)
        give_up("match");
    asf_record_reader_free(r);
}

double print(const std::string &name, const std::function<void()> &call) {
    const double ns = measure(call);
    printf("| %s | %.0f |\n", name.c_str(), ns);
    return ns;
}

} // namespace

double format_table() {
    double ns = -1;
    const std::string title = "Making a conversion of 30 fields";
    if (title.find(only) == std::string::npos)
        return ns;
    Thirty wire(true), native(false);
    const std::string d = foreign_description(wire.format);
    asf_record_format *foreign;
    if (asf_record_parse(d.data(), d.size(), &foreign) < 0)
        give_up("parse");
    printf("\n### %s, ns\n\n| | |\n| --- | ---: |\n", title.c_str());
    print("declare a format", [&] {
        asf_record_format *f;
        asf_record_declare(&native.type, &f);
        asf_record_format_free(f);
    });
    print("parse a description", [&] {
        asf_record_format *f;
        asf_record_parse(d.data(), d.size(), &f);
        asf_record_format_free(f);
    });
    for (const char *const *e = asf_record_engines(); *e; e++)
        if (asf_record_use(*e) == 0)
            ns = print(std::string("match and plan, ") + *e, [&] { match(foreign, native.format); });
    asf_record_use(nullptr);
    asf_record_format_free(foreign);
    return ns;
}
