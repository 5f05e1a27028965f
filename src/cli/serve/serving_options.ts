import { CapsuleError } from "../../base/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { ASK_OPTION } from "../options/grant_flags.ts";
import type { Option } from "../verb.ts";

/** The most that may wait at a door or a listener. */
export const MAX_QUEUE = 9_999;

/** What every verb that serves takes beside the grants; `json` says what is printed. */
export function servingOptions(json: string): readonly Option[] {
  return [
    ASK_OPTION,
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "json", summary: json },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ];
}

/** The number of a flag, when it is given. @throws `usage.bad_value` */
export function readNumber(args: Arguments, flag: string, min: number, max: number): number | undefined {
  const text = args.value(flag);
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new CapsuleError("usage.bad_value", `Read --${flag}: wanted a number from ${min} to ${max}`);
}
