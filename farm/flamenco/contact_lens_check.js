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
            required: true,
            eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
            evalInfo: { showLinkButton: true, description: "Scene frame range" },
            description: "Frames to check, as in 1-100 or 1,5,9-20",
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
            choices: ["any", "touching", "penetrating", "new", "never"],
            default: "any",
            description: "Which clashes make the job fail, after its reports are written",
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
    const run = [`--scene=${settings.scene}`, `--frames=${frames}`].concat(words(settings.options));
    const parts = `${settings.report}-parts-${formatTimestampLocal(job.created)}`;

    const checks = [];
    for (const chunk of frameChunker(frames, settings.chunk_size)) {
        for (let shard = 1; shard <= shards; shard++) {
            const part = path.join(parts, `frames-${chunk}-shard-${shard}.json`);
            const covers = [`--only-frames=${chunk}`, "--shard", `${shard}/${shards}`, "--json", part];
            checks.push(task(`check ${chunk}, ${shard} of ${shards}`, ["check", settings.blendfile], run, covers));
        }
    }
    const reports = Object.keys(REPORTS).map((kind) => [`--${kind}`, `${settings.report}${REPORTS[kind]}`]);
    const verdict = ["--pictures", `${settings.pictures}`, "--fail-on", settings.fail_on];
    const merge = task("merge", ["merge", parts], ...reports, verdict, words(settings.merge_options));
    for (const check of checks) {
        merge.addDependency(check);
        job.addTask(check);
    }
    job.addTask(merge);
}

// Author a task that runs a command of Contact Lens in Blender. A task fails when its command exits with another code
// than 0: for parts only when they could not be made, for the merged report also when clashes count.
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
