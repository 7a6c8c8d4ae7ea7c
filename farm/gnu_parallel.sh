#!/usr/bin/env bash
# Contact Lens with GNU parallel: check frames in chunks and pairs in shards, then merge the parts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# GNU parallel has to be installed. It uses all cores of this machine; other machines too with, for example,
# PARALLEL='--sshlogin :,two,three --workdir .', where the program and all files must have the same paths. A second run
# does the parts that failed or are not there. When the file or an option has changed, remove the folder of the parts
# first: merge refuses them.
set -euo pipefail

program=(blender -b --command contact_lens)
run=(scene.blend --frames=1-30)
covers=(--only-frames=1-10 --only-frames=11-20 --only-frames=21-30)
shards=1
parts=parallel_parts
merge=(--html clashes.html --json clashes.json --junit clashes.xml --pictures 20 --fail-on any)

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
"${program[@]}" merge "$parts" "${merge[@]}"
