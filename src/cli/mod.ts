/**
 * The command line. In: argv, the process's streams and environment. Out: an exit status of the one table, human text
 * or, with `--json`, data. Wires the rooms together, one verb per file, each loaded only when called. Decides nothing
 * about grants, walls or records itself, and prints no foreign text that was not made safe.
 * @module
 */
export { main } from "./main.ts";
export type { Context, DescribeComponent, Option, TextSink, Verb } from "./verb.ts";
