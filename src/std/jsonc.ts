// @ts-types="./jsonc.d.ts"
export { parse } from "deno-std/jsonc/mod.js";
