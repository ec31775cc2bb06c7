"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");
const readline = require("node:readline");

const program = path.join(__dirname, "native", "bin", "stator");

// The server watches its parent, so that it does not outlive a process that is killed.
function environment() {
  return { ...process.env, STATOR_STOP_WITH_PARENT: "true" };
}

function argumentsOf({ port = 0, host = "127.0.0.1", data, args = [] }) {
  const list = ["serve", "--port", String(port), "--host", host];
  if (data !== undefined) list.push("--data", data);
  if (!args.some((word) => /^--log-format(=|$)/.test(word))) list.push("--log-format", "json");
  return [...list, ...args];
}

// What the caller says counts, whatever a stator.yaml or the environment has: a database that was to be kept is never in memory.
function environmentOf({ data, inMemory = data === undefined }) {
  return { ...environment(), STATOR_IN_MEMORY: String(inMemory) };
}

function start(given) {
  const options = given || {};
  return new Promise((resolve, reject) => {
    if (options.log !== undefined && typeof options.log !== "function") throw new TypeError("options.log is a function");
    const stdio = ["ignore", "pipe", "pipe"];
    const child = spawn(program, argumentsOf(options), { stdio, env: environmentOf(options) });
    const words = []; // the last lines of its log
    const exited = new Promise((done) => child.once("close", (code) => done(code)));
    child.once("error", reject);
    exited.then((code) => {
      const said = words.filter((line) => line.startsWith("stator: ")).pop() || words.pop() || "it said nothing";
      reject(new Error(`stator ended with status ${code} before it was ready: ${said}`));
    });

    readline.createInterface({ input: child.stderr }).on("line", (line) => {
      words.push(line);
      if (words.length > 20) words.shift();
      if (options.log) options.log(line);
    });
    readline.createInterface({ input: child.stdout }).on("line", (line) => {
      const ready = /^ *DynamoDB API +(https?:\/\/\S+:(\d+))$/.exec(line);
      if (!ready) return;
      // It must not keep this process alive: who forgets to stop it gets an end all the same.
      child.unref();
      child.stdout.unref();
      child.stderr.unref();
      resolve({
        endpoint: ready[1],
        port: Number(ready[2]),
        pid: child.pid,
        // Who waits for the end keeps this process alive until then.
        get exited() {
          child.ref();
          return exited;
        },
        async stop() {
          child.ref();
          if (child.exitCode === null && child.signalCode === null && !child.killed) child.kill("SIGTERM");
          await exited;
        },
      });
    });
  });
}

module.exports = { start, program, environment };
