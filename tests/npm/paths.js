// tests/npm/paths.js URL [SEED] - select beside JSPath, on what both languages share: a list of paths, then random ones. JSPath sees the
// JSON that GET shows. Not compared, since they differ on purpose: the order of what .. finds and what several ways find twice, null at a
// position, the empty text as a number, arithmetic with nothing, != of texts that differ by case, maps, arrays in arrays.
"use strict";

const assert = require("node:assert/strict");
const jspath = require("jspath");

const host = process.argv[2];
const seed = Number(process.argv[3] || process.env.SEED || Date.now() % 1e9);
const ROUNDS = 1500;

const record = (name, fields) => ({ type: "record", name, fields: Object.entries(fields).map(([name, type]) => ({ name, type })) });
const array = (items) => ({ type: "array", items });
const SCHEMA = record("Shelf", {
    n: "int", title: "string", flag: "boolean",
    books: array(record("Book", {
        id: "int", title: "string", price: "double", flag: "boolean", opt: ["null", "string"],
        author: record("Author", { name: "string", born: "long" }), tags: array("string"),
        parts: array(record("Part", { no: "int", name: "string", opt: ["null", "int"] })),
    })),
    best: ["null", "Book"],
});
const book = (id, title, price, name, tags, parts, opt = null) => ({
    id, title, price, flag: id % 2 === 0, opt, author: { name, born: 1900 + id }, tags, parts,
});
const part = (no, name, opt = null) => ({ no, name, opt });
const DOCUMENT = {
    n: 3, title: "Shelf", flag: true,
    books: [
        book(1, "Clean Code", 17.96, "Robert C. Martin", ["code", "clean"], [part(1, "Names", 4), part(2, "Functions")], "first"),
        book(2, "Maintainable JavaScript", 10.5, "Nicholas C. Zakas", [], []),
        book(3, "Agile Software Development", 20.25, "Robert C. Martin", ["code", "agile", "Java"], [part(3, "Principles", 1)], "Third"),
        book(4, "JavaScript: The Good Parts", 15.67, "Douglas Crockford", ["3"], [part(1, "Grammar"), part(3, "Objects", 3), part(9, "Names")]),
    ],
    best: book(5, "TAOCP", 180.5, "Donald Knuth", ["art"], [part(1, "Sorting", 7)]),
};

const SHARED = [
    ".", ".title", ".books.title", ".books.author.name", ".books.tags", ".books.parts.name", ".best.parts.no", ".best.author",
    ".books[0].title", ".books.title[0]", ".books[-1].title", ".books[:2].title", ".books[-2:].title", ".books[1:3].title",
    ".books[7]", ".books[2:1]", ".books.tags[1:3]", ".books.parts[0].name", ".books[0].parts[1].name", ".books.parts[-1:].no",
    '.books{.author.name === "Robert C. Martin"}.title', ".books{.price < 17}.title", ".books{.price < 15}{.price > 5}[0].title",
    '.books{.price < 20 && (.author.name *== "Zakas" || .author.name *== "Martin")}.title',
    '.books{.price < 20 && .author{.name *== "Zakas" || .name *== "Martin"}}.title', '.books{.id == "1"}', ".books{.id === 1}.id",
    '.books{.id != "1"}.id', '.books{.title == "clean code"}.id', '.books{.title ^== "Java"}.id', '.books{.title ^= "java"}.id',
    '.books{.title $== "Parts"}.id', '.books{.title $= "parts"}.id', '.books{.title *== "Script"}.id', '.books{.title *= "SCRIPT"}.id',
    ".books{!.tags}.id", ".books{.tags}.id", ".books{.tags[2]}.id", ".books{.opt}.id", ".books{.opt == null}.id", ".books{.flag == true}.id",
    ".books{.flag}.id", ".books{.tags == ^.books[0].tags}.id", ".books{.id + 1 === 3}.id", ".books{.id * 2 - 1 > 4}.id", ".books{.id % 2 == 1}.id",
    '.books{.tags === "code"}{.parts.opt > 3}.id', ".books{.id == ^.n}.title", ".books{.price > ^.books[0].price}.id", '.books{.author.name + "!" $== "ford!"}.id',
    ".books{-.id < -3}.id", ".books{.id > 1 && .id < 4 || .id === 4}.id", ".books{!(.id > 1)}.id", ".books{1 < .id}.id", ".books.parts{.opt}.name",
    ".books.parts{.no === 3}[0].name", ".books{.parts{.no > 2 && .opt < 2}}.id", '(.n | .title)',
    '.books{.tags == 3}.id', '.books{.tags < "b"}.id', ".{.flag == true}.n", ".{.n > 5}.n", ".*", ".books[0].*", ".books{.author.born >= 1903}.author.name",
];

async function call(method, path, body) {
    const answer = await fetch(host + path, { method, body });
    const text = await answer.text();
    return { status: answer.status, text };
}

async function select(path) {
    const answer = await call("POST", "/shelf/select/1", path);
    if (answer.status === 400 && JSON.parse(answer.text).detail.includes("no record there has a field")) return []; // JSPath knows no schema
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return JSON.parse(answer.text);
}

function theirs(path) {
    const found = jspath.apply(path, structuredClone(DOCUMENT));
    return Array.isArray(found) ? found : found === undefined ? [] : [found];
}

// Where the order is another: what there is.
const unordered = (list) => [...new Set(list.map((v) => JSON.stringify(v)))].sort();

async function compare(path, ordered) {
    const ours = await select(path), wanted = theirs(path);
    if (ordered) assert.deepEqual(ours, wanted, `${path} (seed ${seed})`);
    else assert.deepEqual(unordered(ours), unordered(wanted), `${path} (seed ${seed})`);
}

// ---- random paths ----

let state = seed;
function random(n) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % n;
}
const one = (list) => list[random(list.length)];

// What stands at a place, as far as it matters: fields of records, by name.
const PART = { no: "number", name: "text", opt: "maybe" };
const AUTHOR = { name: "text", born: "number" };
const BOOK = { id: "number", title: "text", price: "number", flag: "boolean", opt: "maybe", author: AUTHOR, tags: ["text"], parts: [PART] };
const SHELF = { n: "number", title: "text", flag: "boolean", books: [BOOK], best: BOOK };

const LITERALS = { number: ["1", "2", "3", "10.5", "1903", "-1"], text: ['"code"', '"Names"', '"JAVA"', '"art"', '"first"'], boolean: ["true", "false"], maybe: ["null", "1", '"Third"'] };
const inner = (type) => (Array.isArray(type) ? type[0] : type);

function scalar(type, depth) {
    const names = Object.entries(type).filter(([, t]) => typeof t === "string");
    const [name, kind] = one(names);
    return { path: `.${name}`, kind };
}

function operand(type, depth) {
    if (typeof type === "string") return { path: ".", kind: type };
    const inside = Object.entries(type).filter(([, t]) => typeof t !== "string");
    if (inside.length && depth > 0 && random(3) === 0) {
        const [name, t] = one(inside);
        if (Array.isArray(t) && random(3) === 0) return { path: `.${name}`, kind: typeof t[0] === "string" ? t[0] : "list" };
        if (typeof inner(t) === "string") return { path: `.${name}`, kind: inner(t) };
        const rest = scalar(inner(t), depth - 1);
        return { path: `.${name}${rest.path}`, kind: rest.kind };
    }
    return scalar(type, depth);
}

function condition(type, depth) {
    if (depth > 0 && random(4) === 0) {
        const what = random(3);
        if (what === 0) return `!(${condition(type, depth - 1)})`;
        return `(${condition(type, depth - 1)}) ${what === 1 ? "&&" : "||"} (${condition(type, depth - 1)})`;
    }
    const a = operand(type, depth);
    if (a.kind === "list" || random(8) === 0) return a.path;
    if (a.kind === "number" && typeof type !== "string" && random(4) === 0) {
        const n = scalar(type, depth);
        return n.kind === "number" ? `${n.path} ${one(["-", "*", "%"])} 2 ${one(["==", "<", ">=", "!="])} 1` : a.path;
    }
    const b = one(LITERALS[a.kind]);
    if (a.kind === "text" && random(2)) return `${a.path} ${one(["^==", "^=", "$==", "$=", "*==", "*="])} ${b}`;
    if (a.kind === "text") return `${a.path} ${one(["==", "===", "!==", "<", "<=", ">", ">="])} ${b}`; // JSPath's != regards case, its == does not
    return `${a.path} ${one(["==", "===", "!=", "!==", "<", "<=", ">", ">="])} ${b}`;
}

// { path, ordered }
function path() {
    let type = SHELF, text = "", ordered = true;
    for (let steps = 1 + random(4); steps > 0; steps--) {
        const t = inner(type);
        if (typeof t === "string" || random(5) === 0) {
            const isNull = t === "maybe";
            if (random(2) || isNull || !ordered || !text) text += text ? `{${condition(t, 2)}}` : `.{${condition(t, 2)}}`;
            else text += one(["[0]", "[-1]", "[1:]", "[:2]", "[-2:]", "[0:9]"]);
            type = t;
            continue;
        }
        if (random(12) === 0) {
            text += `..${one(["name", "id", "no", "born"])}`;
            return { path: text, ordered: false };
        }
        const [name, next] = one(Object.entries(t));
        text += `.${name}`;
        type = next;
    }
    return { path: text, ordered };
}

async function main() {
    console.log(`seed ${seed}`);
    assert.equal((await call("POST", "/putschema/shelf", JSON.stringify(SCHEMA))).status, 200);
    assert.equal((await call("PUT", "/shelf/1", JSON.stringify(DOCUMENT))).status, 201);
    for (const shared of SHARED) await compare(shared, true);
    for (const shared of ["..name", "..no", ".books..opt", "..*", "(.books.title | .title)", ".books(.id | .tags)"]) await compare(shared, false);
    for (let i = 0; i < ROUNDS; i++) {
        const made = path();
        await compare(made.path, made.ordered);
    }
    console.log(`${SHARED.length} paths, ${ROUNDS} random ones`);
}

main().catch((e) => {
    console.error(e);
    process.exit(1);
});
