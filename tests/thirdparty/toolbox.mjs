// DynamoDB-Toolbox: teams and their players in one table, with typed entities, access by index, and transactions.
import assert from "node:assert/strict";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import {
  $add, $append, $get, $remove, $set, $sum, BatchDeleteRequest, BatchGetCommand, BatchGetRequest, BatchPutRequest, BatchWriteCommand, ConditionCheck,
  DeleteItemCommand, DeletePartitionCommand, DeleteTransaction, Entity, executeBatchGet, executeBatchWrite, executeTransactGet,
  executeTransactWrite, GetItemCommand, GetTransaction, item, list, map, number, PutItemCommand, PutTransaction, QueryCommand, ScanCommand,
  set, string, Table, UpdateAttributesCommand, UpdateItemCommand, UpdateTransaction,
} from "dynamodb-toolbox";
import { client, createTable, rejected, run, test } from "./check.mjs";

const table = new Table({
  name: "toolbox",
  documentClient: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
  partitionKey: { name: "pk", type: "string" },
  sortKey: { name: "sk", type: "string" },
  indexes: { gsi1: { type: "global", partitionKey: { name: "gsi1pk", type: "string" }, sortKey: { name: "gsi1sk", type: "string" } } },
});
const Team = new Entity({
  name: "Team", table,
  schema: item({
    team: string().key(),
    city: string(),
    budget: number().default(0),
    won: number().default(0),
    colours: set(string()).optional(),
    coach: map({ name: string(), since: number().optional() }).optional(),
    titles: list(string()).default([]),
  }),
  computeKey: ({ team }) => ({ pk: `TEAM#${team}`, sk: "TEAM" }),
});
const Player = new Entity({
  name: "Player", table,
  schema: item({
    team: string().key(),
    shirt: number().key(),
    name: string(),
    goals: number().default(0),
    position: string().enum("goal", "back", "front"),
  }).and((schema) => ({
    gsi1pk: string().hidden().link(({ position }) => `POSITION#${position}`),
    gsi1sk: string().hidden().link(({ name }) => name),
  })),
  computeKey: ({ team, shirt }) => ({ pk: `TEAM#${team}`, sk: `PLAYER#${String(shirt).padStart(3, "0")}` }),
});
const squad = Array.from({ length: 60 }, (_, i) => (
  { team: "reds", shirt: i + 1, name: `Player ${String(i + 1).padStart(2, "0")}`, goals: i % 7, position: i % 4 ? "front" : "back" }));
const team = async (name) => (await Team.build(GetItemCommand).key({ team: name }).options({ consistent: true }).send()).Item;
const plain = ({ created, modified, entity, ...rest }) => rest;

test("a team is put once", async () => {
  await createTable("toolbox");
  const reds = { team: "reds", city: "Linz", budget: 100, colours: new Set(["red", "white"]), coach: { name: "Eva", since: 2020 } };
  const put = Team.build(PutItemCommand).options({ condition: { attr: "team", exists: false } });
  await put.item(reds).send();
  const error = await rejected(put.item({ ...reds, city: "Wels" })
    .options({ condition: { attr: "team", exists: false }, returnValuesOnConditionFalse: "ALL_OLD" }).send());
  assert.equal(error.name, "ConditionalCheckFailedException");
  assert.equal(error.Item.city.S ?? error.Item.city, "Linz");
  const got = await team("reds");
  assert.deepEqual(plain(got), { ...reds, won: 0, titles: [] });
  const { Attributes } = await Team.build(PutItemCommand).item({ team: "reds", city: "Steyr", budget: 100 }).options({ returnValues: "ALL_OLD" }).send();
  assert.equal(Attributes.city, "Linz");
  await Team.build(PutItemCommand).item({ team: "blues", city: "Bregenz", budget: 10 }).send();
});

test("an update computes, appends and removes", async () => {
  const { Attributes } = await Team.build(UpdateItemCommand).item({
    team: "reds", won: $add(1), budget: $sum($get("budget"), 50), titles: $append(["2024", "2025"]), colours: $add(new Set(["gold"])),
    coach: $set({ name: "Ida", since: 2025 }),
  }).options({ returnValues: "ALL_NEW" }).send();
  assert.deepEqual([Attributes.won, Attributes.budget, Attributes.titles, Attributes.colours, Attributes.coach],
    [1, 150, ["2024", "2025"], new Set(["gold"]), { name: "Ida", since: 2025 }]);
  await Team.build(UpdateItemCommand).item({ team: "reds", titles: { 0: $remove() }, coach: { since: $remove() } }).send();
  const got = await team("reds");
  assert.deepEqual([got.titles, got.coach], [["2025"], { name: "Ida" }]);
  await Team.build(UpdateAttributesCommand).item({ team: "reds", coach: { name: "Pia", since: 2026 } }).send();
  assert.deepEqual((await team("reds")).coach, { name: "Pia", since: 2026 });
});

test("a condition with every operator keeps the item as it was", async () => {
  const pay = (amount, condition) => Team.build(UpdateItemCommand).item({ team: "reds", budget: $add(-amount) }).options({ condition }).send();
  await pay(50, { and: [{ attr: "budget", gte: 50 }, { attr: "city", beginsWith: "St" }, { attr: "titles", contains: "2025" },
    { attr: "coach.name", in: ["Pia", "Ida"] }, { attr: "won", between: [1, 2] }, { not: { attr: "city", eq: "Linz" } },
    { size: "colours", lte: 1 }, { attr: "coach", type: "M" }] });
  const error = await rejected(pay(500, { or: [{ attr: "budget", gte: 500 }, { attr: "coach.since", exists: false }] }));
  assert.equal(error.name, "ConditionalCheckFailedException");
  assert.equal((await team("reds")).budget, 100);
  const gone = await rejected(Team.build(DeleteItemCommand).key({ team: "greens" }).options({ condition: { attr: "team", exists: true } }).send());
  assert.equal(gone.name, "ConditionalCheckFailedException");
});

test("a batch writes and reads the squad", async () => {
  for (let i = 0; i < squad.length; i += 25) {
    const requests = squad.slice(i, i + 25).map((player) => Player.build(BatchPutRequest).item(player));
    const { UnprocessedItems } = await executeBatchWrite(table.build(BatchWriteCommand).requests(...requests));
    assert.deepEqual(UnprocessedItems, {});
  }
  const requests = squad.map(({ team, shirt }) => Player.build(BatchGetRequest).key({ team, shirt }));
  const { Responses } = await executeBatchGet(table.build(BatchGetCommand).requests(...requests, Team.build(BatchGetRequest).key({ team: "none" })));
  assert.deepEqual(Responses[0].slice(0, -1).map(plain), squad);
  assert.equal(Responses[0].at(-1), undefined);
});

test("a query returns pages of entities of both kinds", async () => {
  const query = table.build(QueryCommand).query({ partition: "TEAM#reds" }).entities(Team, Player);
  const found = [];
  let exclusiveStartKey, pages = 0;
  do {
    const page = await query.options({ limit: 13, exclusiveStartKey, showEntityAttr: true }).send();
    found.push(...page.Items);
    exclusiveStartKey = page.LastEvaluatedKey;
    pages += 1;
  } while (exclusiveStartKey);
  assert.equal(pages, 5);
  assert.deepEqual(found.filter((i) => i.entity === "Player").map((i) => i.shirt), squad.map((p) => p.shirt));
  assert.equal(found.filter((i) => i.entity === "Team").length, 1);
  const { Items, Count } = await table.build(QueryCommand).query({ partition: "TEAM#reds", range: { between: ["PLAYER#010", "PLAYER#019"] } })
    .entities(Player).options({ reverse: true, maxPages: Infinity, attributes: ["shirt"], filters: { Player: { attr: "goals", gt: 2 } } }).send();
  assert.deepEqual(Items, squad.slice(9, 19).filter((p) => p.goals > 2).map(({ shirt }) => ({ shirt })).reverse());
  assert.equal(Count, Items.length);
});

test("the index finds players by position and name", async () => {
  const backs = table.build(QueryCommand).entities(Player).query({ index: "gsi1", partition: "POSITION#back", range: { gte: "Player 30" } });
  const expected = squad.filter((p) => p.position === "back" && p.name >= "Player 30");
  assert.deepEqual((await backs.options({ limit: 3, maxPages: Infinity }).send()).Items.map(plain), expected);
  await Player.build(PutItemCommand).item({ ...expected[0], position: "front" }).send();
  assert.deepEqual((await backs.send()).Items.map(plain), expected.slice(1));
});

test("a scan counts, and its segments add up", async () => {
  const whole = await table.build(ScanCommand).entities(Player).options({ maxPages: Infinity, limit: 7 }).send();
  assert.equal(whole.Items.length, 60);
  const parts = await Promise.all([0, 1, 2, 3].map((segment) => table.build(ScanCommand).options({ segment, totalSegments: 4, select: "COUNT", maxPages: Infinity }).send()));
  assert.equal(parts.reduce((sum, p) => sum + p.Count, 0), 62);
});

test("a transaction moves a player and the money", async () => {
  const mover = squad[4];
  const { ConsumedCapacity } = await executeTransactWrite(
    { clientRequestToken: "transfer-1", capacity: "TOTAL" },
    Team.build(ConditionCheck).key({ team: "blues" }).condition({ attr: "city", eq: "Bregenz" }),
    Team.build(UpdateTransaction).item({ team: "reds", budget: $add(60) }).options({ condition: { attr: "budget", eq: 100 } }),
    Player.build(DeleteTransaction).key({ team: "reds", shirt: mover.shirt }).options({ condition: { attr: "name", eq: mover.name } }),
    Player.build(PutTransaction).item({ ...mover, team: "blues" }).options({ condition: { attr: "team", exists: false } }),
  );
  assert.ok(ConsumedCapacity[0].CapacityUnits > 0);
  const { Responses } = await executeTransactGet(
    Team.build(GetTransaction).key({ team: "reds" }),
    Player.build(GetTransaction).key({ team: "reds", shirt: mover.shirt }),
    Player.build(GetTransaction).key({ team: "blues", shirt: mover.shirt }).options({ attributes: ["name"] }),
  );
  assert.equal(Responses[0].Item.budget, 160);
  assert.equal(Responses[1].Item, undefined);
  assert.deepEqual(Responses[2].Item, { name: mover.name });
});

test("a cancelled transaction gives its reasons and changes nothing", async () => {
  const error = await rejected(executeTransactWrite(
    Team.build(UpdateTransaction).item({ team: "reds", budget: $add(1) }),
    Player.build(PutTransaction).item({ ...squad[4], team: "blues" })
      .options({ condition: { attr: "team", exists: false }, returnValuesOnConditionFalse: "ALL_OLD" }),
    Player.build(DeleteTransaction).key({ team: "reds", shirt: 5 }),
  ));
  assert.equal(error.name, "TransactionCanceledException");
  assert.deepEqual(error.CancellationReasons.map((r) => r.Code), ["None", "ConditionalCheckFailed", "None"]);
  assert.equal(error.CancellationReasons[1].Item.name.S, squad[4].name);
  assert.equal((await team("reds")).budget, 160);
});

test("a partition is deleted page by page", async () => {
  const batch = table.build(BatchWriteCommand).requests(Player.build(BatchDeleteRequest).key({ team: "blues", shirt: 5 }));
  await executeBatchWrite(batch);
  await table.build(DeletePartitionCommand).entities(Team, Player).query({ partition: "TEAM#reds" }).send();
  assert.equal((await table.build(ScanCommand).options({ select: "COUNT" }).send()).Count, 1);
});

await run();
