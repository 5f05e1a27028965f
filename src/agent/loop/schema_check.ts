import { type Schema, Validator } from "@cfworker/json-schema";
import { printableLine } from "../../base/mod.ts";
import type { JsonSchema } from "../../protocol/control/mod.ts";

/** Faults that are told at once, and how long each is told. */
const MAX_FAULTS = 5;
const MAX_FAULT_LENGTH = 300;

/**
 * Checks values against a JSON Schema (2020-12). The schema is foreign and was bounded where it came in; how long a hostile one
 * takes is not, and whoever calls this runs where it can be ended.
 */
export class SchemaCheck {
  readonly #validator: Validator | boolean | undefined;

  constructor(schema: JsonSchema) {
    this.#validator = typeof schema === "boolean" ? schema : makeValidator(schema);
  }

  /** What does not fit, in words for a model; undefined when all does. A schema that cannot be used fits nothing. */
  findFault(value: unknown): string | undefined {
    if (this.#validator === true) return undefined;
    if (this.#validator === false) return "nothing fits the schema";
    try {
      const result = this.#validator?.validate(value);
      if (result === undefined) return UNUSABLE;
      if (result.valid) return undefined;
      // Of a fault in the depth every level above says that it has one.
      const own = result.errors.filter(({ error }) => !OF_A_LEVEL_ABOVE.test(error));
      return own.slice(0, MAX_FAULTS).map(({ instanceLocation, error }) =>
        printableLine(`${instanceLocation}: ${error}`, MAX_FAULT_LENGTH)
      ).join("; ") || "it does not fit the schema";
    } catch { // an unresolved or endless `$ref`, a keyword of the wrong type
      return UNUSABLE;
    }
  }
}

const OF_A_LEVEL_ABOVE = /^A subschema had errors|^(Property|Items) .*does not match( schema)?\.$/;
const UNUSABLE = "the schema cannot be used";

function makeValidator(schema: object): Validator | undefined {
  try {
    // It marks the schema's own objects.
    return new Validator(structuredClone(schema) as Schema, "2020-12", false);
  } catch {
    return undefined;
  }
}
