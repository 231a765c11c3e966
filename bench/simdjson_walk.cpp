// bench/simdjson_walk.cpp - one On-Demand walk over a text: every key unescaped, every value read. The only file in C++.
#include "bench/simdjson_walk.h"

#include <cmath>
#include <new>
#include <simdjson.h>

using namespace simdjson;

struct simdjson_walker {
    ondemand::parser parser; // keeps its memory between walks
    padded_string json;
};

namespace
{

uint64_t walk(ondemand::value value);

uint64_t walk_object(ondemand::object object)
{
    uint64_t sum = 1;
    for (auto field : object) {
        std::string_view key = field.unescaped_key();
        sum += key.size() + walk(field.value());
    }
    return sum;
}

uint64_t walk_array(ondemand::array array)
{
    uint64_t sum = 1;
    for (auto item : array)
        sum += walk(item.value());
    return sum;
}

uint64_t walk_number(ondemand::value value)
{
    ondemand::number n = value.get_number();
    return n.is_double() ? (uint64_t)std::fabs(n.get_double()) : (uint64_t)n.get_int64();
}

// Goes as deep as the samples do.
uint64_t walk(ondemand::value value)
{
    switch (ondemand::json_type(value.type())) {
    case ondemand::json_type::object: return walk_object(value.get_object());
    case ondemand::json_type::array: return walk_array(value.get_array());
    case ondemand::json_type::string: return 1 + std::string_view(value.get_string()).size();
    case ondemand::json_type::number: return 1 + walk_number(value);
    case ondemand::json_type::boolean: return 1 + (uint64_t) bool(value.get_bool());
    case ondemand::json_type::null: return bool(value.is_null()) ? 1 : 2;
    }
    return 0;
}

} // namespace

struct simdjson_walker *simdjson_walker_new(const char *json, size_t len)
{
    simdjson_walker *w = new (std::nothrow) simdjson_walker;
    if (w)
        w->json = padded_string(json, len);
    return w;
}

void simdjson_walker_free(struct simdjson_walker *w)
{
    delete w;
}

uint64_t simdjson_walk(struct simdjson_walker *w)
{
    try {
        ondemand::document document = w->parser.iterate(w->json);
        ondemand::value root = document;
        return walk(root) | 1;
    } catch (const simdjson_error &) {
        return 0;
    }
}

const char *simdjson_kernel(void)
{
    return builtin_implementation()->name().c_str();
}
