/** What the reviewer's tools have in common. An error that a tool answers is a thrown text, for the model to read. */
import { wasiError } from "../../wasi/errors.js";

/** The JSON object that the model gave. */
export function readObject(input) {
  let value;
  try {
    value = JSON.parse(input);
  } catch {
    throw "the input is not JSON";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw "the input is not a JSON object";
  return value;
}

/** Why a file could not be used; a mistake of the tool itself goes on as it is. */
export function wasiReason(thrown, path) {
  if (typeof thrown === "string" && thrown.includes(" ")) return thrown;
  return `${path}: ${wasiError(thrown)}`;
}

/** The refusal of a folder with too much below it. */
export function tooWide(maxFiles, path) {
  return `${path} holds more than ${maxFiles} files: name a folder below it`;
}
