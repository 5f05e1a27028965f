import type { Verb } from "./verb.ts";

/** Placeholder of the verb. */
export const verb: Verb = {
  name: "doctor",
  summary: "",
  usage: "doctor",
  operands: { min: 0, max: 0, names: [] },
  options: [],
  run: () => Promise.resolve(0),
};
