// A test is a function with a sentence for its name; run() prints `ok NAME` or `not ok NAME: why` for each, in order.
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";

export const options = {
  endpoint: process.env.STATOR_ENDPOINT,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  maxAttempts: 1,
};
export const client = new DynamoDBClient(options);

const tests = [];
export const test = (name, run) => tests.push({ name, run });

// The error that a promise is refused with.
export async function rejected(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was not refused");
}

// A single table: pk and sk, and generic index keys gsi1pk, gsi1sk and so on.
export function createTable(TableName, { indexes = 1 } = {}) {
  const schema = (pk, sk) => [{ AttributeName: pk, KeyType: "HASH" }, { AttributeName: sk, KeyType: "RANGE" }];
  const numbers = Array.from({ length: indexes }, (_, i) => i + 1);
  const names = ["pk", "sk", ...numbers.flatMap((i) => [`gsi${i}pk`, `gsi${i}sk`])];
  return client.send(new CreateTableCommand({
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: schema("pk", "sk"),
    AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    GlobalSecondaryIndexes: numbers.map((i) => (
      { IndexName: `gsi${i}`, KeySchema: schema(`gsi${i}pk`, `gsi${i}sk`), Projection: { ProjectionType: "ALL" } })),
  }));
}

export async function run() {
  for (const { name, run } of tests) {
    try {
      await run();
      console.log(`ok ${name}`);
    } catch (error) {
      console.log(`not ok ${name}: ${String(error?.stack ?? error).split("\n").slice(0, 12).join(" | ").slice(0, 900)}`);
    }
  }
}
