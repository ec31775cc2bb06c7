#!/usr/bin/env node
"use strict";

// stator, and `stator serve` where only options are given, as tools of this kind are used.

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const { program, environment } = require("../index.js");

const given = process.argv.slice(2);
const own = ["-h", "--help", "--version"];
const serves = given.length === 0 || (given[0].startsWith("-") && !own.includes(given[0]));
if (given.length === 1 && (given[0] === "--help" || given[0] === "-h")) {
  console.log("npx stator-db [OPTIONS] is `stator serve [OPTIONS]`: npx stator-db --port 8000 --in-memory\n");
}

const command = serves ? ["serve", ...given] : given;
const isServer = ["serve", "up", "app"].includes(command[0]);

// In a group of its own: Ctrl-C reaches this process alone, which passes it on once.  A second signal ends the server
// without waiting for its open requests, and npx passes on what the terminal has sent already.
const child = spawn(program, command, {
  stdio: "inherit",
  env: isServer ? environment() : process.env,
  detached: isServer,
});
child.on("error", (error) => {
  console.error(`stator: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});

const AGAIN_AFTER = 1000; // milliseconds: a signal before that is the same one by another way
let stoppedAt = 0;
function stop() {
  const now = Date.now();
  if (stoppedAt !== 0 && now - stoppedAt < AGAIN_AFTER) return;
  stoppedAt = now;
  child.kill("SIGTERM");
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);

// npx may be killed without a word.  It starts this process by way of a shell, so it is the parent or the grandparent.
function parentOf(pid) {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
  } catch {
    return 0; // it has gone
  }
}
function isShell(pid) {
  try {
    return /^(ba|da)?sh$/.test(fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim());
  } catch {
    return false;
  }
}
const parent = process.ppid;
const grandparent = process.env.npm_command && isShell(parent) ? parentOf(parent) : undefined;
const watch = setInterval(() => {
  const alone = process.ppid !== parent || (grandparent !== undefined && parentOf(parent) !== grandparent);
  if (!alone) return;
  clearInterval(watch);
  stop();
}, 500);

child.on("exit", (code, signal) => {
  process.exit(code === null ? 128 + (os.constants.signals[signal] || 0) : code);
});
