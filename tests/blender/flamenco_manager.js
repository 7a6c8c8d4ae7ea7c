// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for the manager of Flamenco 3: gives a job type what its scripts have, and prints what it made.
//
//   node flamenco_manager.js SCRIPT                    prints the settings of the job type
//   node flamenco_manager.js SCRIPT '{"frames": ...}'  prints the tasks of a job with these settings

const fs = require("node:fs");
const path = require("node:path").posix;
const vm = require("node:vm");

function frameChunker(range, size) {
    const frames = new Set();
    for (const part of range.replaceAll("..", "-").split(",")) {
        const ends = part.split("-").map((text) => {
            if (!/^\s*\d+\s*$/.test(text)) throw new Error(`invalid range "${range}"`);
            return Number(text);
        });
        if (ends.length > 2) throw new Error(`invalid range "${range}"`);
        for (let frame = ends[0]; frame <= ends[ends.length - 1]; frame++) frames.add(frame);
    }
    const sorted = [...frames].sort((a, b) => a - b);
    const chunks = [];
    for (let start = 0; start < sorted.length; start += size) {
        const spans = [];
        for (const frame of sorted.slice(start, start + size)) {
            const last = spans[spans.length - 1];
            if (last && frame === last[1] + 1) last[1] = frame;
            else spans.push([frame, frame]);
        }
        const texts = spans.map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a},${b}` : `${a}-${b}`));
        chunks.push(texts.join(","));
    }
    return chunks;
}

const author = {
    Task: (name, type) => {
        if (!name || !type) throw new Error("author.Task(name, type): both are required");
        const task = { name, type, commands: [], dependencies: [] };
        task.addCommand = (command) => task.commands.push(command);
        task.addDependency = (other) => task.dependencies.push(other.name);
        return task;
    },
    Command: (name, parameters) => ({ name, parameters }),
};
const given = {
    author,
    frameChunker,
    print: () => undefined,
    formatTimestampLocal: (moment) => moment.toISOString().slice(0, 19).replace("T", "_").replaceAll(":", ""),
    path: { basename: path.basename, dirname: path.dirname, join: path.join },
};
const context = vm.createContext(given);
vm.runInContext(fs.readFileSync(process.argv[2], "utf-8"), context);
const { JOB_TYPE, compileJob } = vm.runInContext("({ JOB_TYPE, compileJob })", context);
if (process.argv[3] === undefined) {
    console.log(JSON.stringify(JOB_TYPE.settings));
} else {
    const tasks = [];
    const job = { created: new Date(), settings: JSON.parse(process.argv[3]), addTask: (task) => tasks.push(task) };
    compileJob(job);
    console.log(JSON.stringify(tasks));
}
