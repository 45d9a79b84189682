// SPDX-License-Identifier: MIT
//
// xml.cpp - the record as XML, by printf and expat, as in the paper.
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <expat.h>
#include <memory>

#include "peers.h"

namespace {

struct Side : Base {
    std::string text, in;
    std::vector<Item> items;
    Head back = {};
    int scales = 0, codes = 0;
    XML_Parser parser = XML_ParserCreate(nullptr);

    template <class... Values> void add(const char *format, Values... values) {
        char line[200];
        text.append(line, static_cast<size_t>(snprintf(line, sizeof line, format, values...)));
    }

    size_t encode() {
        text.clear();
        add("<head><sequence>%" PRId64 "</sequence><time>%.17g</time><source>%d</source><count>%u</count>",
            head.sequence, head.time, head.source, head.count);
        for (const double s : head.scale)
            add("<scale>%.17g</scale>", s);
        add("<kind>%d</kind><state>%d</state>", head.kind, head.state);
        for (uint32_t i = 0; i < head.count; i++) {
            const Item &item = head.items[i];
            add("<item><id>%d</id><weight>%.9g</weight><value>%.17g</value><stamp>%" PRId64 "</stamp>",
                item.id, static_cast<double>(item.weight), item.value, item.stamp);
            for (const int16_t c : item.codes)
                add("<code>%d</code>", c);
            text += "</item>";
        }
        text += "</head>";
        return text.size();
    }

    static void start(void *data, const XML_Char *name, const XML_Char **) {
        auto *s = static_cast<Side *>(data);
        s->in.clear();
        if (strcmp(name, "item") == 0) {
            s->items.emplace_back();
            s->codes = 0;
        }
    }
    static void characters(void *data, const XML_Char *p, int n) {
        static_cast<Side *>(data)->in.append(p, static_cast<size_t>(n));
    }
    static void end(void *data, const XML_Char *name) {
        auto *s = static_cast<Side *>(data);
        const char *text = s->in.c_str();
        Item *item = s->items.empty() ? nullptr : &s->items.back();
        if (item && strcmp(name, "id") == 0)
            item->id = static_cast<int32_t>(strtol(text, nullptr, 10));
        else if (item && strcmp(name, "weight") == 0)
            item->weight = strtof(text, nullptr);
        else if (item && strcmp(name, "value") == 0)
            item->value = strtod(text, nullptr);
        else if (item && strcmp(name, "stamp") == 0)
            item->stamp = strtoll(text, nullptr, 10);
        else if (item && strcmp(name, "code") == 0)
            item->codes[s->codes++ & 3] = static_cast<int16_t>(strtol(text, nullptr, 10));
        else if (strcmp(name, "sequence") == 0)
            s->back.sequence = strtoll(text, nullptr, 10);
        else if (strcmp(name, "time") == 0)
            s->back.time = strtod(text, nullptr);
        else if (strcmp(name, "source") == 0)
            s->back.source = static_cast<int32_t>(strtol(text, nullptr, 10));
        else if (strcmp(name, "scale") == 0)
            s->back.scale[s->scales++ % 3] = strtod(text, nullptr);
        else if (strcmp(name, "kind") == 0)
            s->back.kind = static_cast<int32_t>(strtol(text, nullptr, 10));
        else if (strcmp(name, "state") == 0)
            s->back.state = static_cast<int32_t>(strtol(text, nullptr, 10));
    }

    const void *message() const { return text.data(); }
    double receive(const void *m, size_t n) {
        items.clear();
        scales = 0;
        XML_ParserReset(parser, nullptr);
        XML_SetUserData(parser, this);
        XML_SetElementHandler(parser, start, end);
        XML_SetCharacterDataHandler(parser, characters);
        if (XML_Parse(parser, static_cast<const char *>(m), static_cast<int>(n), 1) != XML_STATUS_OK)
            give_up("expat");
        expect_items(items.size());
        return sum_of(back.time, items);
    }
};

} // namespace

void add_xml(std::vector<Way> &all) {
    add_way(all, "XML (printf, expat)",
            {"each field to text with all its digits, in tags", "tags and text to each field", ""},
            std::make_shared<Side>());
}
