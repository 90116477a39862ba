#!/bin/sh
# Start a cluster by hand: a scheduler, two workers and a program, each in a separate process.
#
#     sh examples/cluster_from_the_shell.sh [port] [memory of a worker]
#
# On several machines, type the same commands on each of them, with the name of the scheduler's machine in place of
# 127.0.0.1 (and without --host). All need the same versions of Python and of the packages.
set -eu

port=${1:-8786}
memory=${2:-2GB}
address=tcp://127.0.0.1:$port
scratch=$(mktemp -d) # where workers put what does not fit into their memory: a local disk

# When this script ends, it stops what it has started: the program, then the workers, then the scheduler.
scheduler="" workers="" program=""
finish() {
    for processes in "$program" "$workers" "$scheduler"; do
        [ -z "$processes" ] || kill $processes 2>/dev/null || true
        [ -z "$processes" ] || wait $processes || true
    done
    rm -rf "$scratch"
}
trap finish EXIT
trap "exit 130" INT
trap "exit 143" TERM

# On the first machine.
dask scheduler --host 127.0.0.1 --port "$port" --no-dashboard &
scheduler=$!

# On every other machine; one thread per process, as many processes as cores. They wait for the scheduler.
for name in first second; do
    dask worker "$address" --name "$name" --nthreads 1 --memory-limit "$memory" --local-directory "$scratch" \
        --no-dashboard --death-timeout 120 &
    workers="$workers $!"
done

# Anywhere.
python "$(dirname "$0")/dask_cluster.py" "$address" 2 &
program=$!
wait $program
