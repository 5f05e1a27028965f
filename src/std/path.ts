// @ts-types="./path.d.ts"
export {
  basename,
  dirname,
  extname,
  fromFileUrl,
  isAbsolute,
  join,
  normalize,
  relative,
  resolve,
  SEPARATOR,
  toFileUrl,
} from "deno-std/path/mod.js";
