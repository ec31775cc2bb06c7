// The console's code without a browser: exact JSON, values, expressions, code, files.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const console_ = new URL("../../console/", import.meta.url);
const esbuild = createRequire(new URL("package.json", console_))("esbuild");
const built = await esbuild.build({
  stdin: {
    contents: ["json", "values", "expressions", "code", "importing", "format"].map((name) => `export * as ${name} from "./${name}";`).join("\n") + '\nexport * as design from "../pages/tables/design";\nexport { match } from "../router";',
    resolveDir: fileURLToPath(new URL("src/lib", console_)), loader: "ts",
  },
  bundle: true, format: "esm", write: false, platform: "node",
  banner: { js: "globalThis.location ??= { pathname: '/', search: '', href: 'http://x/' }; globalThis.addEventListener ??= () => {};" },
});
const { json, values, expressions, code, importing, format, design, match } = await import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);

const test = (name, body) => {
  try {
    body();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`not ok ${name}: ${String(error.stack).split("\n").slice(0, 40).join(" | ")}`);
  }
};
const table = {
  TableName: "T", TableStatus: "ACTIVE", KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }],
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }, { AttributeName: "sk", AttributeType: "N" }, { AttributeName: "g", AttributeType: "S" }],
  GlobalSecondaryIndexes: [{ IndexName: "byG", KeySchema: [{ AttributeName: "g", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } }],
};
const everything = {
  s: { S: "text \u0000 \u202e" }, empty: { S: "" }, n: { N: "12345678901234567890123456789012345678" }, small: { N: "1E-130" }, b: { B: "AAEC" }, yes: { BOOL: true }, no: { NULL: true },
  l: { L: [{ N: "1" }, { M: { deep: { SS: ["a", "b"] } } }] }, ns: { NS: ["1.10", "2"] }, bs: { BS: ["AA=="] }, __proto__x: { S: "p" },
};

test("numbers of 38 digits keep all of them", () => {
  const text = '{"a":12345678901234567890123456789012345678,"b":[-0.10,1e400]}';
  assert.equal(json.print(json.parse(text)), text);
  assert.deepEqual(values.typed(json.parse("12345678901234567890123456789012345678")), { N: "12345678901234567890123456789012345678" });
});
test("JSON that is wrong says where", () => {
  for (const [text, part] of [["{", "a name"], ['{"a" 1}', "colon"], ["[1 2]", "comma"], ["{\n  \"a\": tru\n}", "Line 2, column 8"], ['"a', "closing quote"], ["01", "something follows"], ['{"a":1,"a":2}', "twice"], ["[".repeat(300), "too deep"], ["", "missing"]]) {
    assert.throws(() => json.parse(text), (error) => error.message.includes(part), `${text} -> ${part}`);
  }
});
test("a name such as __proto__ is a name", () => {
  const item = values.readItem('{"__proto__": {"S": "x"}, "constructor": {"N": "1"}}');
  assert.deepEqual(Object.keys(item), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(item), Object.prototype);
});
test("an item survives its typed JSON, and its plain JSON where it was edited", () => {
  assert.deepEqual(values.readItem(values.typedText(everything)), everything);
  assert.deepEqual(values.readItem(values.plainText(everything), everything), everything);
  assert.deepEqual(values.readItem('{"ns": [1, "x"]}', everything), { ns: { L: [{ N: "1" }, { S: "x" }] } });
});
test("typed JSON that is wrong names the attribute", () => {
  for (const [text, part] of [['{"a": {"S": 1}}', "a: "], ['{"a": {"M": {"b": {"X": 1}}}}', '"X" is no type'], ['{"a": {"B": "?"}}', "base64"], ['{"a": {"NULL": false}}', "NULL is true"], ['{"a": {"L": {}}}', "L is a list"]]) {
    assert.throws(() => values.readTypedItem(json.parse(text)), (error) => error.message.includes(part), text);
  }
});
test("CSV comes back as it went", () => {
  const items = [everything, { s: { S: 'a "quoted", text\r\nin lines' }, n: { N: "-1.5" } }, { s: { S: "123" }, empty: { S: "true" } }];
  const read = [...values.readCsv(values.csv(items))];
  const names = read[0].fields.map((field) => field.text);
  const back = read.slice(1).map(({ fields }) => Object.fromEntries(fields.flatMap((field, i) => (field.text === "" && !field.quoted ? [] : [[names[i], values.fromCsvValue(field.text)]]))));
  assert.deepEqual(back, items);
});
test("equal values are equal whatever the order of sets and maps", () => {
  assert.ok(values.same({ SS: ["a", "b"] }, { SS: ["b", "a"] }));
  assert.ok(values.same({ M: { a: { N: "1" }, b: { N: "2" } } }, { M: { b: { N: "2" }, a: { N: "1" } } }));
  assert.ok(!values.same({ L: [{ N: "1" }, { N: "2" }] }, { L: [{ N: "2" }, { N: "1" }] }));
});
test("binary is shown in hex", () => assert.equal(values.hex(new Uint8Array([0, 65, 255])), "000000  00 41 ff                                          ·A·"));

const search = (part) => ({ ...expressions.emptySearch, ...part });
test("a partition key makes a query, nothing makes a scan", () => {
  assert.deepEqual(expressions.build(table, search({ pk: "a", sk: "5", op: ">", desc: true })), { operation: "Query", request: {
    TableName: "T", KeyConditionExpression: "#pk = :v0 AND #sk > :v1", ScanIndexForward: false, ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk" }, ExpressionAttributeValues: { ":v0": { S: "a" }, ":v1": { N: "5" } } } });
  assert.deepEqual(expressions.build(table, search({})), { operation: "Scan", request: { TableName: "T" } });
  assert.equal(expressions.build(table, search({ index: "byG", consistent: true })).request.ConsistentRead, undefined);
});
test("filters have all operators, and names of any kind", () => {
  const filters = [["a.b[0]", "=", "N", "1"], ["x y", "begins_with", "S", "q"], ['"a.b"', "in", "S", "1, 2"], ["t", "type is", "S", "NS"], ["u", "not exists", "S", ""], ["v", "between", "N", "1", "2"], ["w", "not contains", "S", "z"], ["k", "size >", "S", "3"], ["f", "=", "BOOL", "false"]]
    .map(([name, op, type, value, value2]) => ({ name, op, type, value, value2 }));
  const { request } = expressions.build(table, search({ filters }));
  assert.equal(request.FilterExpression, "#a.#b[0] = :v0 AND begins_with(#n2, :v1) AND #n3 IN (:v2, :v3) AND attribute_type(#t, :v4) AND attribute_not_exists(#u) AND #v BETWEEN :v5 AND :v6 AND NOT contains(#w, :v7) AND size(#k) > :v8 AND #f = :v9");
  assert.deepEqual([request.ExpressionAttributeNames["#n2"], request.ExpressionAttributeNames["#n3"], request.ExpressionAttributeValues[":v9"]], ["x y", "a.b", { BOOL: false }]);
});
test("operators fit the type of the key", () => {
  assert.ok(!expressions.keyOperators("N").includes("begins_with"));
  assert.ok(expressions.keyOperators("S").includes("begins_with"));
  assert.ok(!expressions.filterOperators("BOOL").includes("<"));
});
test("a search is in the address and back", () => {
  const full = search({ index: "byG", pk: "a&b", op: "between", sk: "1", sk2: "2", filters: [{ name: "x", op: "between", type: "N", value: "1", value2: "2" }], select: "a, b", desc: true, consistent: true });
  const query = new URLSearchParams(Object.entries(expressions.searchToQuery(full)).filter(([, value]) => value));
  assert.deepEqual(expressions.searchFromQuery(new URLSearchParams(query.toString())), full);
  assert.deepEqual(expressions.searchFromQuery(new URLSearchParams("filter=broken")), search({}));
});
test("commands and code say the request", () => {
  const { operation, request } = expressions.build(table, search({ pk: "it's" }));
  assert.match(code.awsCli(operation, request, "http://h:1"), /aws dynamodb query --endpoint-url http:\/\/h:1 \\\n {2}--table-name T \\\n[^]*'\{":v0":\{"S":"it'\\''s"\}\}'/);
  assert.match(code.javaScript(operation, request, "http://h:1", "r"), /new QueryCommand\(\{\n {2}TableName: "T"/);
  assert.match(code.python("Scan", { TableName: "T", ConsistentRead: true }, "e", "r"), /client\.scan\(\n {4}TableName="T",\n {4}ConsistentRead=True,/);
  assert.match(code.cpp(operation, request, "e", "r"), /request\.AddExpressionAttributeValues\(":v0", AttributeValue\("it's"\)\);/);
});
test("a table is the same as a form and as a request", () => {
  const made = { ...design.emptyDesign, name: "Orders", indexes: [design.newIndex(1), { ...design.newIndex(2), kind: "local", name: "lsi", sk: { name: "at", type: "N" } }], stream: "NEW_IMAGE", protect: true, tags: [{ Key: "a", Value: "b" }] };
  const request = design.requestOf(made);
  assert.deepEqual(request.AttributeDefinitions.map((one) => one.AttributeName), ["pk", "sk", "gsi1pk", "gsi1sk", "at"]);
  assert.deepEqual(design.requestOf(design.designOfRequest(request)), request);
  const template = code.cloudFormation(request, "expiresAt");
  assert.match(template, /Orders:\n {4}Type: "AWS::DynamoDB::Table"\n {4}Properties:\n {6}TableName: Orders/);
  assert.match(template, / {6}StreamSpecification:\n {8}StreamViewType: NEW_IMAGE\n/);
  assert.match(template, / {6}TimeToLiveSpecification:\n {8}AttributeName: expiresAt\n {8}Enabled: true\n/);
  assert.deepEqual(Object.keys(design.problems({ ...made, name: "a b", sk: { name: "pk", type: "S" } }, [])), ["name", "sk"]);
});
test("a file is read with errors for each line", () => {
  const lines = (text, kind = importing.guess("", text)) => importing.read(text, kind, table).map((row) => [row.line, row.error ?? row.item.pk.S]);
  assert.deepEqual(lines('[\n{"pk": "a", "sk": 1},\n{"pk": "b"},\n{"pk": tru},\n{"pk": "d", "sk": 4}\n]').map(([line, text]) => [line, text.slice(0, 20)]), [[2, "a"], [3, "the key sk is missin"], [4, "column 8: this is no"], [5, "d"]]);
  assert.deepEqual(lines('{"pk": "a", "sk": 1}\n\n{"pk": "a", "sk": 1}\n{"pk": 5, "sk": 1}'), [[1, "a"], [3, "has the same key as line 1"], [4, "the key pk is a string, and not a number"]]);
  assert.equal(importing.guess("", '[{"pk": {"S": "a"}}]'), "typed");
  assert.equal(importing.guess("", '{"Items": [{"pk": {"S": "a"}}]}'), "typed");
  assert.deepEqual(lines('{"Items": [{"pk": {"S": "a"}, "sk": {"N": "1"}}, {"pk": {"X": "a"}}]}').map(([line, text]) => [line, text.slice(0, 17)]), [[1, "a"], [2, 'pk: "X" is no typ']]);
  assert.deepEqual(lines('pk,sk,t\na,1,"x\ny"\nb,,\nc,3,4,5\n', "csv"), [[2, "a"], [4, "the key sk is missing"], [5, "has 4 fields for 3 columns"]]);
  assert.deepEqual(lines('pk,pk\n', "csv"), [[1, 'the column "pk" is there twice']]);
  assert.match(lines(JSON.stringify({ pk: "a", sk: 1, big: "x".repeat(410_000) }))[0][1], /the limit is 409600/);
});
test("sizes are short", () => assert.deepEqual([0, 999, 1000, 31_601, 999_999, 1_234_567, 5e9].map(format.bytes), ["0 B", "999 B", "1 KB", "32 KB", "1 MB", "1.2 MB", "5 GB"]));
test("paths have parameters", () => {
  assert.deepEqual(match("/tables/:table/items", "/tables/a%2Fb.c/items"), { table: "a/b.c" });
  assert.equal(match("/tables/:table", "/tables/%E0%A4%A"), null);
});
