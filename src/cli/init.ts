import type { Verb } from "./verb.ts";

/** Placeholder of the verb. */
export const verb: Verb = {
  name: "init",
  summary: "",
  usage: "init",
  operands: { min: 0, max: 0, names: [] },
  options: [],
  run: () => Promise.resolve(0),
};
