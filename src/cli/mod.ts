/**
 * The command line. In: argv, the process's streams and environment. Out: an exit status of the one table, human text
 * or, with `--json`, data. Wires the rooms together, one verb per file, each loaded only when called. Decides nothing
 * about grants, walls or records itself, and prints no foreign text that was not made safe.
 *
 * A verb stands in the folder of what it is about, beside what it alone needs. `run/`, `agent/`, `chat/`, `tools/` and
 * `serve/` start work, over `tree/`, the tree of sessions that this process supervises, after `consent/`. `running/` acts
 * on trees of other processes, `door/` on doors. `records/` and `trace/` show what was; `explain/` and `workspace/` what a
 * capsule may do and a folder holds; `about/` is boll itself. `options/` reads arguments, `text/` writes to a terminal.
 * @module
 */
export { main } from "./main.ts";
export type { Context, DescribeComponent, Option, TextSink, Verb } from "./verb.ts";
