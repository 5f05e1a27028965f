import { type Schema, Validator } from "@cfworker/json-schema";
import { printableLine } from "../../base/mod.ts";
import type { JsonSchema } from "../../protocol/control/mod.ts";
import { boundedSchema } from "./bounded_schema.ts";

/** Faults that are told at once, and how long each is told. */
const MAX_FAULTS = 5;
const MAX_FAULT_LENGTH = 300;

/** How long one check may take, ms. Nothing ends a thread that is busy: it would stay so for good, beside the next one. */
const MAX_CHECK_MS = 2_000;

/**
 * Checks values against a JSON Schema (2020-12; `format` is an annotation there). The schema is foreign, and was bounded in
 * size where it came in; here it is in time.
 */
export class SchemaCheck {
  readonly #validator: Validator | boolean | undefined;
  readonly #now: () => number;
  #until = Infinity;

  /** `now` in ms. */
  constructor(schema: JsonSchema, now: () => number = Date.now) {
    this.#now = now;
    this.#validator = typeof schema === "boolean" ? schema : this.#makeValidator(schema);
  }

  /** What does not fit, in words for a model; undefined when all does. A schema that cannot be used fits nothing. */
  findFault(value: unknown): string | undefined {
    if (this.#validator === true) return undefined;
    if (this.#validator === false) return "nothing fits the schema";
    this.#until = this.#now() + MAX_CHECK_MS;
    try {
      const result = this.#validator?.validate(value);
      if (result === undefined) return UNUSABLE;
      if (result.valid) return undefined;
      // Of a fault in the depth every level above says that it has one.
      const own = result.errors.filter(({ error }) => !OF_A_LEVEL_ABOVE.test(error));
      return own.slice(0, MAX_FAULTS).map(({ instanceLocation, error }) =>
        printableLine(`${instanceLocation}: ${error}`, MAX_FAULT_LENGTH)
      ).join("; ") || "it does not fit the schema";
    } catch (error) { // an unresolved or endless `$ref`, a keyword of the wrong type
      return error instanceof TooLongError ? error.message : UNUSABLE;
    }
  }

  #makeValidator(schema: object): Validator | undefined {
    try {
      const bounded = boundedSchema(schema, () => {
        if (this.#now() > this.#until) throw new TooLongError(`to check it takes more than ${MAX_CHECK_MS} ms`);
      });
      return new Validator(bounded as Schema, "2020-12", false);
    } catch {
      return undefined;
    }
  }
}

class TooLongError extends Error {}

const OF_A_LEVEL_ABOVE = /^A subschema had errors|^(Property|Items) .*does not match( schema)?\.$/;
const UNUSABLE = "the schema cannot be used";
