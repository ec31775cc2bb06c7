// The same request as a command and as code.
type Body = Record<string, unknown>;

const kebab = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/([A-Z])([A-Z][a-z])/g, "$1-$2").toLowerCase();
const quote = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export function awsCli(operation: string, body: Body, endpoint: string): string {
  const options = Object.entries(body).map(([name, value]) => {
    if (typeof value === "boolean") return value ? `--${kebab(name)}` : `--no-${kebab(name)}`;
    return `--${kebab(name)} ${quote(typeof value === "object" ? JSON.stringify(value) : String(value))}`;
  });
  return [`aws dynamodb ${kebab(operation)} --endpoint-url ${endpoint}`, ...options].join(" \\\n  ");
}

const indented = (text: string, by: string) => text.replaceAll("\n", `\n${by}`);
// JSON as a literal of JavaScript: names without quotes where that is possible.
const literal = (value: unknown) => JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");

export const javaScript = (operation: string, body: Body, endpoint: string, region: string) => `import { DynamoDBClient, ${operation}Command } from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({ endpoint: ${JSON.stringify(endpoint)}, region: ${JSON.stringify(region)} });
const answer = await client.send(new ${operation}Command(${literal(body)}));
console.log(answer);
`;

function pythonValue(value: unknown, by = ""): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return value.length ? `[${value.map((one) => pythonValue(one, by)).join(", ")}]` : "[]";
  if (typeof value === "object") {
    const inner = `${by}    `;
    const members = Object.entries(value as object).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${pythonValue(one, inner)},`);
    return members.length ? `{\n${members.join("\n")}\n${by}}` : "{}";
  }
  return JSON.stringify(value);
}
const snake = (name: string) => kebab(name).replaceAll("-", "_");
export const python = (operation: string, body: Body, endpoint: string, region: string) => `import boto3

client = boto3.client("dynamodb", endpoint_url=${JSON.stringify(endpoint)}, region_name=${JSON.stringify(region)})
answer = client.${snake(operation)}(
${Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value, "    ")},`).join("\n")}
)
print(answer)
`;

const text = (value: string) => JSON.stringify(value);
function cppValue(value: Record<string, unknown>): string {
  const [type, content] = Object.entries(value)[0] as [string, unknown];
  switch (type) {
    case "S": return `AttributeValue(${text(content as string)})`;
    case "BOOL": return `AttributeValue().SetBool(${content})`;
    case "NULL": return "AttributeValue().SetNull(true)";
    case "B": return `AttributeValue().SetB(Aws::Utils::HashingUtils::Base64Decode(${text(content as string)}))`;
    case "L": return `AttributeValue().SetL({${(content as Record<string, unknown>[]).map((one) => `Aws::MakeShared<AttributeValue>("", ${cppValue(one)})`).join(", ")}})`;
    case "M": return `AttributeValue().SetM({${Object.entries(content as Record<string, Record<string, unknown>>).map(([name, one]) => `{${text(name)}, Aws::MakeShared<AttributeValue>("", ${cppValue(one)})}`).join(", ")}})`;
    case "N": return `AttributeValue().SetN(${text(content as string)})`;
    default: return `AttributeValue().Set${type}({${(content as string[]).map(text).join(", ")}})`;
  }
}
export function cpp(operation: string, body: Body, endpoint: string, region: string): string {
  const lines = Object.entries(body).flatMap(([name, value]): string[] => {
    if (typeof value === "string") return [`request.Set${name}(${text(value)});`];
    if (typeof value === "boolean" || typeof value === "number") return [`request.Set${name}(${value});`];
    if (name === "ExpressionAttributeNames") return Object.entries(value as object).map(([holder, one]) => `request.Add${name}(${text(holder)}, ${text(one as string)});`);
    if (["ExpressionAttributeValues", "Key", "Item"].includes(name)) return Object.entries(value as object).map(([holder, one]) => `request.Add${name}(${text(holder)}, ${cppValue(one)});`);
    return [`// ${name}: ${JSON.stringify(value)}`];
  });
  return `#include <aws/core/Aws.h>
#include <aws/dynamodb/DynamoDBClient.h>
#include <aws/dynamodb/model/${operation}Request.h>

using namespace Aws::DynamoDB::Model;

Aws::DynamoDB::DynamoDBClientConfiguration configuration;
configuration.endpointOverride = ${text(endpoint)};
configuration.region = ${text(region)};
const Aws::DynamoDB::DynamoDBClient client(configuration);

${operation}Request request;
${lines.join("\n")}
const auto outcome = client.${operation}(request);
`;
}

// A table as CloudFormation has it: a stream is on where it has a view, and time to live is a part of the table.
export function cloudFormation(body: Body, ttl = ""): string {
  const { TableName, StreamSpecification: stream, ...others } = body as Body & { StreamSpecification?: { StreamEnabled: boolean; StreamViewType?: string } };
  const rest = {
    ...others,
    ...(stream?.StreamEnabled ? { StreamSpecification: { StreamViewType: stream.StreamViewType } } : {}),
    ...(ttl ? { TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } } : {}),
  };
  return `${yaml({ Resources: { [String(TableName).replace(/[^A-Za-z0-9]/g, "") || "Table"]: { Type: "AWS::DynamoDB::Table", Properties: { TableName, ...rest } } } })}\n`;
}
function yaml(value: unknown, by = ""): string {
  if (Array.isArray(value)) return value.map((one) => `${by}- ${indented(yaml(one, ""), `${by}  `).trimStart()}`).join("\n");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).filter(([, one]) => one !== undefined).map(([name, one]) => (typeof one === "object" && one !== null ? `${by}${name}:\n${yaml(one, `${by}  `)}` : `${by}${name}: ${scalar(one)}`)).join("\n");
  }
  return by + scalar(value);
}
const plainYaml = (text: string) => /^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text);
const scalar = (value: unknown) => (typeof value === "string" && !plainYaml(value) ? JSON.stringify(value) : String(value));
