// SPDX-License-Identifier: GPL-3.0-or-later
// Contact Lens, a job type of Flamenco 3.3 or newer: copy this file to the folder "scripts" beside flamenco-manager.

// The reports, and what is added to the path of each.
const REPORTS = {"html": ".html", "json": ".json", "junit": ".xml"};

const JOB_TYPE = {
    label: "Contact Lens Check",
    settings: [
        {
            key: "frames",
            type: "string",
            eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
            evalInfo: { showLinkButton: true, description: "Scene frame range" },
            description: "Frames to check, as in 1-100 or 1,5,9-20. If empty, the current one of the file",
        },
        {
            key: "chunk_size",
            type: "int32",
            default: 10,
            propargs: { min: 1 },
            visible: "submission",
            description: "Number of frames in a task",
        },
        {
            key: "shards",
            type: "int32",
            default: 1,
            propargs: { min: 1 },
            visible: "submission",
            description: "Number of tasks among which the pairs of each chunk of frames are divided",
        },
        {
            key: "options",
            type: "string",
            default: "",
            description: 'Options of check, as in --clearance 2mm --collections Props "Outer Walls"',
        },
        {
            key: "merge_options",
            type: "string",
            default: "",
            description: "Options of merge, as in --allow-skipped",
        },
        {
            key: "report",
            type: "string",
            subtype: "file_path",
            required: true,
            eval: "str(abspath('//') / Path(bpy.data.filepath).stem)",
            description: "Path of the reports, without extension. All workers must reach it",
        },
        {
            key: "fail_on",
            type: "string",
            choices: ["any", "touching", "penetrating", "new", "transient", "never"],
            default: "any",
            description: "Which clashes make the last task fail, after the reports are written",
        },
        {
            key: "pictures",
            type: "int32",
            default: 20,
            propargs: { min: 0 },
            visible: "submission",
            description: "Maximum number of pictures on the page",
        },
        {
            key: "scene",
            type: "string",
            required: true,
            eval: "C.scene.name",
            visible: "web",
            description: "Scene to check",
        },
        {
            key: "blendfile",
            type: "string",
            required: true,
            visible: "web",
            description: "File to check, as Flamenco's add-on stored it for the workers",
        },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const shards = settings.shards;
    const frames = settings.frames.replaceAll("..", "-").replaceAll(" ", "");
    const options = words(settings.options);
    const scene = options.some((word) => /^--scene(=|$)/.test(word)) ? [] : [`--scene=${settings.scene}`];
    const run = scene.concat(frames ? [`--frames=${frames}`] : [], options);
    const parts = `${settings.report}-parts-${formatTimestampLocal(job.created)}`;

    const checks = [];
    for (const chunk of frames ? frameChunker(frames, settings.chunk_size) : [""]) {
        for (let shard = 1; shard <= shards; shard++) {
            const part = path.join(parts, `${chunk ? `frames-${chunk}-` : ""}shard-${shard}.json`);
            const only = chunk ? [`--only-frames=${chunk}`] : [];
            const covers = only.concat(["--shard", `${shard}/${shards}`, "--json", part]);
            const name = `check ${chunk || "current frame"}, ${shard} of ${shards}`;
            checks.push(task(name, ["check", settings.blendfile], run, covers));
        }
    }
    const reports = Object.keys(REPORTS).map((kind) => [`--${kind}`, `${settings.report}${REPORTS[kind]}`]);
    const judged = ["--fail-on", settings.fail_on].concat(words(settings.merge_options));
    const pictures = ["--pictures", `${settings.pictures}`];
    const merge = task("merge", ["merge", parts], ...reports, pictures, judged, ["--no-verdict"]);
    for (const check of checks) {
        merge.addDependency(check);
        job.addTask(check);
    }
    job.addTask(merge);
    const verdict = task("verdict", ["merge", parts], judged); // Flamenco tries it three times: it takes seconds
    verdict.addDependency(merge);
    job.addTask(verdict);
}

// Author a task that runs a command of Contact Lens in Blender. A task fails when its command exits with another code
// than 0: for parts and reports only when they could not be made, for the verdict when clashes count.
function task(name, ...parts) {
    const made = author.Task(name, "blender");
    const args = ["-b", "--command", "contact_lens"].concat(...parts);
    made.addCommand(author.Command("exec", { exe: "{blender}", args: args }));
    return made;
}

// Split a line of options into words; quotes of either kind keep a name with spaces together.
function words(line) {
    const found = line.match(/"[^"]*"|'[^']*'|\S+/g) || [];
    return found.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}
