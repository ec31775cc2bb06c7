// Reads a file with documents and answers, as `suite` writes it, and prints `ok NAME` or `not ok NAME: why` for each thing that it looked at.
import { readFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const told = (name, problems) =>
  console.log(problems.length === 0 ? `ok ${name}` : `not ok ${name}: ${problems.slice(0, 5).join("; ").replaceAll("\n", " ")}`);

// The path of the document that a request went to: a word is stronger than a parameter.
const templateOf = (document, path) => {
  const parts = path.split("/");
  const isParameter = (part) => part.startsWith("{");
  const fits = Object.keys(document.paths).filter((template) => {
    const wanted = template.split("/");
    return wanted.length === parts.length && wanted.every((part, i) => (isParameter(part) ? parts[i] !== "" : part === parts[i]));
  });
  const rank = (template) => template.split("/").map((part) => (isParameter(part) ? "1" : "0")).join("");
  return fits.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
};

// A line of TypeScript that compiles if the answer is of the type that the document has for it; else why there is no such type.
const asConstant = (document, { method, path, status, body }, number) => {
  const template = templateOf(document, path);
  const operation = template && document.paths[template][method.toLowerCase()];
  if (status === 414) return {}; // the head of the request is too long: HTTP refuses it before a route is looked for
  if (!operation) return status < 400 ? { missing: `${method} ${path} is not in the document` } : {};
  const key = operation.responses[status] ? String(status) : `${String(status)[0]}XX`;
  const answer = operation.responses[key];
  if (!answer) return { missing: `${method} ${template} was answered ${status}, which is not in the document` };
  const type = answer.content && Object.keys(answer.content)[0];
  if (!type) return { missing: `${method} ${template} was answered ${status} with a body` };
  const at = [template, method.toLowerCase(), "responses", key === String(status) ? status : key, "content", type];
  return { line: `export const _${number}: paths${at.map((part) => `[${JSON.stringify(part)}]`).join("")} = ${JSON.stringify(body)};` };
};

// What the compiler has against sources, by their name.
const compile = (sources) => {
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, lib: ["lib.es2022.d.ts"], types: [] };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...more) => (sources[name] === undefined ? read(name, ...more) : ts.createSourceFile(name, sources[name], more[0]));
  host.fileExists = (name) => sources[name] !== undefined || ts.sys.fileExists(name);
  const program = ts.createProgram(Object.keys(sources), options, host);
  return Object.fromEntries(Object.keys(sources).map((name) => {
    const file = program.getSourceFile(name);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return [name, found.map((one) => {
      const line = sources[name].split("\n")[file.getLineAndCharacterOfPosition(one.start).line];
      return `${ts.flattenDiagnosticMessageText(one.messageText, " ")} in ${line.slice(0, 300)}`;
    })];
  }));
};

const config = await createConfig({ extends: ["recommended"] });
const found = JSON.parse(readFileSync(process.argv[2], "utf8"));
const sources = {};
for (const { name, document, answers } of found) {
  const lint = await lintFromString({ source: JSON.stringify(document), absoluteRef: `${name}.json`, config });
  told(`${name}: Redocly has nothing against it`, lint.map((one) => `${one.severity} ${one.ruleId}: ${one.message} ${one.location[0].pointer}`));
  const refused = await SwaggerParser.validate(structuredClone(document)).then(() => [], (error) => [error.message]);
  told(`${name}: Swagger Parser accepts it`, refused);
  const constants = answers.map((answer, number) => asConstant(document, answer, number));
  told(`${name}: it has all answers`, [...new Set(constants.flatMap(({ missing }) => missing ?? []))]);
  const lines = constants.flatMap(({ line }) => line ?? []);
  sources[`${name}.ts`] = `${astToString(await openapiTS(document))}\n${lines.join("\n")}\n`;
  told(`${name}: there are answers to compare`, lines.length >= 5 ? [] : [`only ${lines.length}`]);
}
for (const [file, problems] of Object.entries(compile(sources))) told(`${file}: its types fit the answers`, problems);
