// @ts-types="./cli.d.ts"
export { parseArgs } from "deno-std/cli/parse_args.js";
