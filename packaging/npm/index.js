"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");
const readline = require("node:readline");

const program = path.join(__dirname, "native", "bin", "stator");

// The server watches its parent, so that it does not outlive a process that is killed.
function environment() {
  return { ...process.env, STATOR_STOP_WITH_PARENT: "true" };
}

function argumentsOf({ port = 0, host, data, inMemory = data === undefined, args = [] }) {
  const list = ["serve", "--port", String(port), "--log-format", "json"];
  if (host !== undefined) list.push("--host", host);
  if (data !== undefined) list.push("--data", data);
  if (inMemory) list.push("--in-memory");
  return [...list, ...args];
}

function start(options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argumentsOf(options), { stdio: ["ignore", "pipe", "pipe"], env: environment() });
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
        exited,
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
