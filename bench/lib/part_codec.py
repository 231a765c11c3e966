"""bench/lib/part_codec.py - the codec alone, nanoseconds a record, beside simdjson's reader, Jansson and Avro C."""

import os

from machine import say
from report import Goal, Part, cell

HELP = "the codec beside simdjson, Jansson and Avro C"
NAMES = ["codec"]
COLUMNS = [("ours_from_json", "JSON to Avro"), ("simdjson_walk", "simdjson walk"), ("peer_from_json", "Jansson + Avro C"),
           ("jansson_parse", "Jansson parse"), ("ours_to_json", "Avro to JSON"), ("peer_to_json", "Avro C to JSON"),
           ("ours_later_to_json", "of a later version"), ("ours_resolve_to_json", "read as that"), ("ours_edit", "edit of a field"),
           ("ours_there_and_back", "Avro to JSON to Avro"), ("ours_project", "one field to JSON")]


def ratio(above, below):
    """Of the medians; the ends are the worst and the best that the rounds allow."""
    return {"median": round(above["median"] / below["median"], 3), "min": round(above["min"] / below["max"], 3),
            "max": round(above["max"] / below["min"], 3)}


def run(bench, _names):
    part = Part()
    if not os.path.exists(bench.tools.codec):
        say("codec is not built: libavro-dev is not here")
        return part
    part.rows = bench.tools.run_codec(2 * bench.args.rounds + 1)
    for s in part.rows:
        s["name"] = "codec-" + s["sample"]
        if "simdjson_walk" in s:
            part.goals.append(Goal(s["name"], "JSON to Avro / simdjson walk", ratio(s["ours_from_json"], s["simdjson_walk"]),
                                   most=1.0))
        part.goals.append(Goal(s["name"], "Avro C / Avro to JSON", ratio(s["peer_to_json"], s["ours_to_json"]), least=15))
        part.goals.append(Goal(s["name"], "of another version / of this one", ratio(s["ours_resolve_to_json"], s["ours_later_to_json"]),
                               most=2.0))
    lines = [[s["name"], str(s["json_bytes"])] + [cell(s[key]) if key in s else "-" for key, _ in COLUMNS]
             for s in part.rows]
    part.tables.append(("Codec, ns a record", ["sample", "bytes"] + [name for _, name in COLUMNS], lines))
    return part
