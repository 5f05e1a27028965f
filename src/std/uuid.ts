// @ts-types="./uuid.d.ts"
export { generate } from "deno-std/uuid/v7.js";
