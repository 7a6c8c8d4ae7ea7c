#!/usr/bin/env bash
# Contact Lens with GNU parallel: check frames in chunks and pairs in shards, then merge the parts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# GNU parallel has to be installed. It uses all cores of this machine; other machines too with, for example,
# PARALLEL='--sshlogin :,two,three --workdir .', where the program and all files must have the same paths. A second run
# does the parts that failed or are not there. When the file or an option has changed, remove the folder of the parts
# first: merge refuses them.
set -euo pipefail
trap 'echo "contact_lens: not all parts could be made, and there is no verdict" >&2; exit 2' ERR

program=(blender -b --command contact_lens)
run=(scene.blend --frames=1-30)
covers=(--only-frames=1-10 --only-frames=11-20 --only-frames=21-30)
shards=1
parts=parallel_parts
merge=(--html clashes.html --json clashes.json --junit clashes.xml --pictures 20 --fail-on any)

if [[ $(parallel --version 2>/dev/null) != "GNU parallel"* ]]; then # moreutils has another program of that name
    echo "contact_lens: GNU parallel has to be installed: the package parallel, and not moreutils" >&2
    exit 2
fi
mkdir -p "$parts"
if [ -e "$parts/jobs.log" ]; then # parts that were deleted are no longer done
    while read -r number line; do
        if [ "$number" = Seq ] || [ -e "$parts/part_$number.json" ]; then printf '%s\t%s\n' "$number" "$line"; fi
    done <"$parts/jobs.log" >"$parts/jobs.new"
    mv "$parts/jobs.new" "$parts/jobs.log"
fi
parallel --quote --joblog "$parts/jobs.log" --resume-failed --retries 2 \
    "${program[@]}" check "${run[@]}" {1} --shard "{2}/$shards" --json "$parts/part_{#}.json" \
    ::: "${covers[@]}" ::: $(seq "$shards")
trap - ERR # from here on the exit code is the verdict: 1 and 3 were none until now
"${program[@]}" merge "$parts" "${merge[@]}"
