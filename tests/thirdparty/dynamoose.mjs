// Dynamoose: a photo service whose users and photos share a table that Dynamoose creates, waits for and changes.
import assert from "node:assert/strict";
import dynamoose from "dynamoose";
import { options, rejected, run, test } from "./check.mjs";

const { maxAttempts, ...connection } = options;
dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB({ ...connection, maxAttempts }));
const key = { pk: { type: String, hashKey: true }, sk: { type: String, rangeKey: true } };
const User = dynamoose.model("DynamooseUser", new dynamoose.Schema({
  ...key,
  name: { type: String, required: true },
  photos: { type: Number, default: 0 },
  tags: { type: Set, schema: [String] },
  address: { type: Object, schema: { city: String } },
  history: { type: Array, schema: [String] },
  seen: Date,
  picture: Buffer,
}, { timestamps: true }));
const Photo = dynamoose.model("DynamoosePhoto", new dynamoose.Schema({
  ...key,
  album: { type: String, index: { name: "byAlbum", type: "global", rangeKey: "taken" } },
  taken: { type: Number, index: { name: "byTaken", type: "local" } },
  likes: { type: Number, default: 0 },
}));
const table = new dynamoose.Table("dynamoose", [User, Photo], {
  throughput: "ON_DEMAND",
  waitForActive: { enabled: true, check: { timeout: 20000, frequency: 20 } }, tags: { team: "photos" },
  streamOptions: { enabled: true, type: "NEW_AND_OLD_IMAGES" },
  expires: { ttl: 3600e3, attribute: "expires" }, update: ["ttl", "indexes", "tags", "streams"], initialize: false,
});
const photo = (i) => ({ pk: "u1", sk: `photo#${String(i).padStart(3, "0")}`, album: i % 2 ? "odd" : "even", taken: 1000 - i, likes: i });
const settled = async (promise) => { const { $metadata, ...rest } = await promise; return rest; };

test("the table is created, waited for, tagged, and given a stream and a time to live", async () => {
  await table.initialize();
  const ddb = dynamoose.aws.ddb();
  const { Table } = await ddb.describeTable({ TableName: "dynamoose" });
  assert.equal(Table.TableStatus, "ACTIVE");
  assert.deepEqual(Table.GlobalSecondaryIndexes.map((i) => i.IndexName), ["byAlbum"]);
  assert.deepEqual(Table.LocalSecondaryIndexes.map((i) => i.IndexName), ["byTaken"]);
  assert.equal(Table.StreamSpecification.StreamViewType, "NEW_AND_OLD_IMAGES");
  assert.deepEqual(await settled(ddb.listTagsOfResource({ ResourceArn: Table.TableArn })), { Tags: [{ Key: "team", Value: "photos" }] });
  const { TimeToLiveDescription } = await ddb.describeTimeToLive({ TableName: "dynamoose" });
  assert.deepEqual(TimeToLiveDescription, { AttributeName: "expires", TimeToLiveStatus: "ENABLED" });
});

test("a user is created once and comes back with its types", async () => {
  const seen = new Date("2025-02-03T04:05:06Z"), picture = Buffer.from([0, 1, 254]);
  await User.create({ pk: "u1", sk: "user", name: "Ann", tags: new Set(["a", "b"]), address: { city: "Graz" }, history: ["one"], seen, picture });
  const error = await rejected(User.create({ pk: "u1", sk: "user", name: "Other" }));
  assert.equal(error.name, "ConditionalCheckFailedException");
  const got = await User.get({ pk: "u1", sk: "user" }, { consistent: true });
  assert.deepEqual([got.name, got.photos, [...got.tags].sort(), got.address.city, got.history, got.seen, Buffer.from(got.picture)],
    ["Ann", 0, ["a", "b"], "Graz", ["one"], seen, picture]);
  assert.ok(Date.now() - got.createdAt < 600e3);
  assert.equal(await User.get({ pk: "u1", sk: "nobody" }), undefined);
});

test("an update sets, adds, removes, and keeps to its condition", async () => {
  const id = { pk: "u1", sk: "user" };
  const updated = await User.update(id, { $SET: { name: "Ann B." }, $ADD: { photos: 2, history: "two" }, $REMOVE: ["picture"], $DELETE: { tags: ["b"] } });
  assert.deepEqual([updated.name, updated.photos, updated.history, updated.picture, [...updated.tags]], ["Ann B.", 2, ["one", "two"], undefined, ["a"]]);
  const condition = new dynamoose.Condition().where("photos").eq(2).and().where("name").beginsWith("Ann").and().parenthesis(
    (c) => c.where("address.city").in(["Graz", "Wien"]).or().where("seen").not().exists());
  assert.equal((await User.update(id, { photos: 3 }, { condition, returnValuesOnConditionCheckFailure: "ALL_OLD" })).photos, 3);
  assert.equal((await rejected(User.update(id, { photos: 9 }, { condition }))).name, "ConditionalCheckFailedException");
  const gone = new dynamoose.Condition().where("photos").eq(99);
  assert.equal((await rejected(User.delete(id, { condition: gone }))).name, "ConditionalCheckFailedException");
  assert.equal((await User.get(id)).photos, 3);
});

test("batches put, get and delete", async () => {
  for (let i = 0; i < 100; i += 25) {
    const { unprocessedItems } = await Photo.batchPut(Array.from({ length: 25 }, (_, k) => photo(i + k)));
    assert.equal(unprocessedItems.length, 0);
  }
  const keys = [1, 2, 500].map((i) => ({ pk: "u1", sk: photo(i).sk }));
  const got = await Photo.batchGet(keys);
  assert.deepEqual(got.map((p) => p.likes).sort(), [1, 2]);
  assert.equal(got.unprocessedKeys.length, 0);
  await Photo.batchPut([{ ...photo(900), pk: "u2" }, { ...photo(901), pk: "u2" }]);
  await Photo.batchDelete([{ pk: "u2", sk: photo(900).sk }, { pk: "u2", sk: photo(901).sk }]);
  assert.equal((await Photo.query("pk").eq("u2").exec()).count, 0);
});

test("a query goes page by page to the end", async () => {
  const found = [];
  let page;
  do {
    const query = Photo.query("pk").eq("u1").where("sk").beginsWith("photo#").limit(30);
    page = await (page ? query.startAt(page.lastKey) : query).exec();
    found.push(...page.map((p) => p.likes));
  } while (page.lastKey);
  assert.deepEqual(found, [...Array(100).keys()]);
  const last = await Photo.query("pk").eq("u1").where("sk").between("photo#010", "photo#020").sort("descending").attributes(["sk"]).limit(2).exec();
  assert.deepEqual(last.map((p) => p.sk), ["photo#020", "photo#019"]);
  const all = await Photo.query("pk").eq("u1").filter("likes").ge(90).limit(10).all().exec();
  assert.equal(all.length, 10);
  assert.equal((await Photo.query("pk").eq("u1").where("sk").beginsWith("photo#").count().exec()).count, 100);
});

test("the global and the local index sort by their keys", async () => {
  const odd = await Photo.query("album").eq("odd").where("taken").lt(910).using("byAlbum").exec();
  assert.deepEqual(odd.map((p) => p.taken), [901, 903, 905, 907, 909]);
  const late = await Photo.query("pk").eq("u1").where("taken").ge(995).using("byTaken").sort("descending").exec();
  assert.deepEqual(late.map((p) => p.likes), [0, 1, 2, 3, 4, 5]);
});

test("a scan filters and runs in parallel", async () => {
  const some = await Photo.scan("likes").gt(95).and().where("album").eq("odd").all().exec();
  assert.deepEqual(some.map((p) => p.likes).sort(), [97, 99]);
  const whole = await Photo.scan("sk").beginsWith("photo#").parallel(4).all().exec();
  assert.equal(whole.length, 100);
});

test("a transaction likes a photo and counts it", async () => {
  await dynamoose.transaction([
    Photo.transaction.update({ pk: "u1", sk: photo(1).sk }, { $ADD: { likes: 10 } }),
    User.transaction.update({ pk: "u1", sk: "user" }, { $ADD: { photos: 1 } }, { condition: new dynamoose.Condition().where("photos").eq(3) }),
    Photo.transaction.create({ ...photo(101) }),
    Photo.transaction.delete({ pk: "u1", sk: photo(0).sk }),
    User.transaction.condition({ pk: "u1", sk: "user2" }, new dynamoose.Condition().where("pk").not().exists()),
  ]);
  const [user, liked] = await dynamoose.transaction([
    User.transaction.get({ pk: "u1", sk: "user" }), Photo.transaction.get({ pk: "u1", sk: photo(1).sk })]);
  assert.deepEqual([user.photos, liked.likes], [4, 11]);
});

test("a cancelled transaction changes nothing", async () => {
  const error = await rejected(dynamoose.transaction([
    User.transaction.update({ pk: "u1", sk: "user" }, { $ADD: { photos: 1 } }),
    Photo.transaction.create({ ...photo(101) }),
  ]));
  assert.equal(error.name, "TransactionCanceledException");
  assert.deepEqual(error.CancellationReasons.map((r) => r.Code), ["None", "ConditionalCheckFailed"]);
  assert.equal((await User.get({ pk: "u1", sk: "user" })).photos, 4);
});

test("an index that a new version of the model asks for is added to the full table", async () => {
  const Better = dynamoose.model("DynamooseBetterPhoto", new dynamoose.Schema({
    ...key,
    album: { type: String, index: [{ name: "byAlbum", type: "global", rangeKey: "taken" }, { name: "byAlbumLikes", type: "global", rangeKey: "likes" }] },
    taken: { type: Number, index: { name: "byTaken", type: "local" } },
    likes: Number,
  }));
  const changed = new dynamoose.Table("dynamoose", [Better], {
    waitForActive: { enabled: true, check: { timeout: 20000, frequency: 20 } }, update: ["indexes"], throughput: "ON_DEMAND", initialize: false });
  await changed.initialize();
  const { Table } = await dynamoose.aws.ddb().describeTable({ TableName: "dynamoose" });
  assert.deepEqual(Table.GlobalSecondaryIndexes.map((i) => [i.IndexName, i.IndexStatus]).sort(), [["byAlbum", "ACTIVE"], ["byAlbumLikes", "ACTIVE"]]);
  const most = await Better.query("album").eq("odd").using("byAlbumLikes").sort("descending").limit(2).exec();
  assert.deepEqual(most.map((p) => p.likes), [101, 99]);
});

await run();
