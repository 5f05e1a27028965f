import { CapsuleError, printableLine } from "../../base/mod.ts";
import { type JsonSchema, jsonSchema } from "../../protocol/control/mod.ts";
import { Fields, type ToolDescription } from "../../protocol/mod.ts";
import { plainSchema } from "./plain_schema.ts";

/** A tool that can be called. */
export interface ComponentTool {
  readonly name: string;
  /** One line without control characters, 200 characters at most. */
  readonly description: string;
  /** Its descriptions are like the tool's own. */
  readonly inputSchema: JsonSchema;
  /** Whether it changes something: it is never run twice for one call. */
  readonly mutates: boolean;
}

const MAX_DESCRIPTION = 200;

// Controls, invisible formatting, lone surrogates and every kind of space: one space.
const SPACES = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/**
 * What a tool says of itself, as an agent may use it. It must be the tool that the manifest names, and its schema an
 * object of JSON Schema without regular expressions.
 *
 * @throws `tool.bad_description`
 */
export function readDescription(name: string, said: ToolDescription): ComponentTool {
  if (said.name !== name) {
    const found = printableLine(JSON.stringify(said.name), 80);
    throw bad(name, `it calls itself ${found}, wanted "${name}"; name it so in the manifest or in the component`);
  }
  return { name, description: oneLine(said.description), inputSchema: readSchema(name, said), mutates: said.mutates };
}

function readSchema(name: string, { input_schema }: ToolDescription): JsonSchema {
  let value: unknown;
  try {
    value = JSON.parse(input_schema);
  } catch {
    throw bad(name, "its input-schema is not JSON");
  }
  let schema: JsonSchema;
  try {
    schema = jsonSchema(new Fields({ input_schema: value }, "tool"), "input_schema");
  } catch (error) {
    throw bad(name, `its input-schema is refused: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof schema === "boolean" || schema["type"] !== "object") {
    throw bad(name, 'its input-schema is not one of an object: wanted "type": "object"');
  }
  return plainSchema(schema, oneLine);
}

function oneLine(text: string): string {
  const line = text.replace(SPACES, " ").trim();
  const characters = Array.from(line);
  return characters.length <= MAX_DESCRIPTION ? line : `${characters.slice(0, MAX_DESCRIPTION - 1).join("")}…`;
}

function bad(name: string, why: string): CapsuleError {
  return new CapsuleError("tool.bad_description", `Describe tool ${printableLine(name, 80)}: ${why}`);
}
