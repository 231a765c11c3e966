// tests/npm/clients.js URL - clients as they are published against a running avrod: KafkaJS's registry client registers,
// fetches, encodes and decodes; what avsc encodes is stored as Avro binary and read back, and the reverse.
"use strict";

const assert = require("node:assert/strict");
const avro = require("avsc");
const { SchemaRegistry, SchemaType, COMPATIBILITY } = require("@kafkajs/confluent-schema-registry");

const host = process.argv[2];
const CONFLUENT = "application/vnd.confluent.avro";

const V1 = {
    type: "record", name: "Person", namespace: "shop",
    fields: [{ name: "name", type: "string" }, { name: "age", type: "int" }],
};
const V2 = { ...V1, fields: [...V1.fields, { name: "mail", type: ["null", "string"], default: null }] };
const BOND = { name: "James Bond", age: 60 };

// A plain object: decoded records are instances of classes.
const plain = (value) => JSON.parse(JSON.stringify(value));

async function http(method, path, { body, type, accept } = {}) {
    const headers = {};
    if (type) headers["Content-Type"] = type;
    if (accept) headers.Accept = accept;
    const answer = await fetch(host + path, { method, body, headers });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() };
}

async function ok(method, path, how) {
    const answer = await http(method, path, how);
    assert.ok(answer.status === 200 || answer.status === 201, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
}

const client = (options) => new SchemaRegistry({ host, retry: { retries: 0 } }, options);
const schema = (value) => ({ type: SchemaType.AVRO, schema: JSON.stringify(value) });

// ---- KafkaJS ----

async function registersAndFetches() {
    const registry = client();
    const { id } = await registry.register(schema(V1), { subject: "people" });
    assert.deepEqual(await registry.register(schema(V1), { subject: "people" }), { id });
    const newer = await registry.register(schema(V2), { subject: "people" });
    assert.notEqual(newer.id, id);
    assert.equal(await registry.getLatestSchemaId("people"), newer.id);
    assert.equal(await registry.getRegistryId("people", 1), id);
    assert.equal(await client().getRegistryIdBySchema("people", schema(V1)), id);
    assert.equal((await client().getSchema(id)).name, "shop.Person");
    // Without a subject it makes one of namespace and name: here that is a type too.
    const named = await registry.register(schema(V1));
    assert.equal(named.id, id);
    assert.equal((await ok("GET", "/getschema/shop.Person")).headers.get("schema-id"), String(id));
    await assert.rejects(client().getSchema(1000000), /not found/i);
    await assert.rejects(client().getLatestSchemaId("nobody"), /not found/i);
    await assert.rejects(client().getRegistryIdBySchema("people", schema({ ...V1, fields: [] })), /not found/i);
}

async function encodesAndDecodes() {
    const registry = client();
    const { id } = await registry.register(schema(V1), { subject: "coded" });
    const message = await registry.encode(id, BOND);
    assert.equal(message[0], 0);
    assert.equal(message.readInt32BE(1), id);
    assert.deepEqual(plain(await client().decode(message)), BOND);
    // The same bytes are a record's.
    await ok("PUT", "/coded/bond", { body: message, type: CONFLUENT });
    assert.deepEqual(JSON.parse((await ok("GET", "/coded/bond")).text), BOND);
    assert.deepEqual((await ok("GET", "/coded/bond", { accept: CONFLUENT })).bytes, message);
    // And the reverse: what was put as JSON is a message.
    await ok("PUT", "/coded/q", { body: JSON.stringify({ name: "Q", age: 70 }) });
    const made = (await ok("GET", "/coded/q", { accept: CONFLUENT })).bytes;
    assert.deepEqual(plain(await client().decode(made)), { name: "Q", age: 70 });
    // A message of an older version is read as the latest, and shown as it was to who asks for that.
    const newer = await registry.register(schema(V2), { subject: "coded" });
    assert.deepEqual(JSON.parse((await ok("GET", "/coded/bond")).text), { ...BOND, mail: null });
    const shown = (await ok("GET", "/coded/bond", { accept: CONFLUENT })).bytes;
    assert.equal(shown.readInt32BE(1), newer.id);
    assert.deepEqual(plain(await client().decode(shown)), { ...BOND, mail: null });
    assert.deepEqual((await ok("GET", "/coded/bond?version=1", { accept: CONFLUENT })).bytes, message);
    await assert.rejects(registry.encode(id, { name: 7 }));
}

async function looksAtCompatibility() {
    const wrong = { ...V1, fields: [{ name: "name", type: "int" }] };
    const registry = client();
    await registry.register(schema(V1), { subject: "strict" });
    await assert.rejects(registry.register(schema(wrong), { subject: "strict" }), /cannot follow/);
    // The client sets the level that it wants of a subject that has none, and refuses one that has another.
    await registry.register(schema(V1), { subject: "f/ull", compatibility: COMPATIBILITY.FULL });
    assert.equal((await ok("GET", "/config/f%2Full")).text, '{"compatibilityLevel":"FULL"}');
    await ok("POST", "/putschema/loose?compatibility=none", { body: JSON.stringify(V1) });
    await assert.rejects(registry.register(schema(V2), { subject: "loose" }), /NONE/);
    await registry.register(schema(wrong), { subject: "loose", compatibility: COMPATIBILITY.NONE });
}

async function followsReferences() {
    const registry = client();
    const holder = {
        type: "record", name: "Account", namespace: "shop", fields: [{ name: "owner", type: "shop.Person" }],
    };
    await registry.register(schema(V1), { subject: "owner" });
    const { id } = await registry.register(
        { ...schema(holder), references: [{ name: "shop.Person", subject: "owner", version: 1 }] },
        { subject: "account" });
    const message = await registry.encode(id, { owner: BOND });
    assert.deepEqual(plain(await client().decode(message)), { owner: BOND });
    await ok("PUT", "/account/1", { body: message, type: CONFLUENT });
    assert.deepEqual(JSON.parse((await ok("GET", "/account/1")).text), { owner: BOND });
}

// ---- avsc ----

const SHAPES = [
    ["person", V2, [{ ...BOND, mail: null }, { ...BOND, mail: "m@x" }, { name: "", age: -1, mail: null }]],
    ["numbers", {
        type: "record", name: "Numbers",
        fields: ["int", "long", "float", "double"].map((type) => ({ name: type, type })),
    }, [{ int: -2147483648, long: 4503599627370497, float: 0.5, double: 1e300 },
        { int: 0, long: -1, float: -0.25, double: 0.1 }]],
    ["nested", {
        type: "record", name: "Node",
        fields: [
            { name: "kind", type: { type: "enum", name: "Kind", symbols: ["LEAF", "FORK"] } },
            { name: "children", type: { type: "array", items: "Node" } },
            { name: "marks", type: { type: "map", values: "boolean" } },
        ],
    }, [{ kind: "FORK", children: [{ kind: "LEAF", children: [], marks: {} }], marks: { seen: true, "": false } }]],
    ["list", { type: "array", items: "string" }, [[], ["a", "\u00e9", "\u{1f600}"]]],
];

async function keepsWhatAvscEncodes() {
    for (const [name, shape, values] of SHAPES) {
        const type = avro.Type.forSchema(shape);
        await ok("POST", `/putschema/${name}`, { body: JSON.stringify(shape) });
        for (const [i, value] of values.entries()) {
            const bytes = type.toBuffer(value), path = `/${name}/${i}`;
            await ok("PUT", path, { body: bytes, type: "avro/binary" });
            assert.deepEqual((await ok("GET", path, { accept: "avro/binary" })).bytes, bytes);
            assert.deepEqual(JSON.parse((await ok("GET", path)).text), value);
            // And the reverse.
            await ok("PUT", `${path}-json`, { body: JSON.stringify(value) });
            const made = (await ok("GET", `${path}-json`, { accept: "avro/binary" })).bytes;
            assert.deepEqual(plain(type.fromBuffer(made)), value);
        }
        const half = await http("PUT", `/${name}/bad`, { body: Buffer.from([0x81]), type: "avro/binary" });
        assert.equal(half.status, 422, half.text);
    }
}

async function resolvesAsAvscDoes() {
    const writer = avro.Type.forSchema(V1), reader = avro.Type.forSchema(V2);
    await ok("POST", "/putschema/evolved", { body: JSON.stringify(V1) });
    await ok("PUT", "/evolved/1", { body: writer.toBuffer(BOND), type: "avro/binary" });
    await ok("POST", "/putschema/evolved", { body: JSON.stringify(V2) });
    const resolved = reader.fromBuffer(writer.toBuffer(BOND), reader.createResolver(writer));
    assert.deepEqual(JSON.parse((await ok("GET", "/evolved/1")).text), plain(resolved));
    assert.deepEqual((await ok("GET", "/evolved/1", { accept: "avro/binary" })).bytes, reader.toBuffer(resolved));
}

async function main() {
    for (const check of [registersAndFetches, encodesAndDecodes, looksAtCompatibility, followsReferences,
        keepsWhatAvscEncodes, resolvesAsAvscDoes]) {
        await check();
        console.log(check.name);
    }
    console.log("ok");
}

main().catch((fault) => {
    console.error(fault);
    process.exitCode = 1;
});
