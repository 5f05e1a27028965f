import * as z from "zod/mini";
import { inferenceSchema, peersSchema, secretsSchema, skillsSchema, toolsSchema } from "./agent_schema.ts";
import { grantsSchema, text } from "./grants_schema.ts";
import { lifecycleSchema } from "./lifecycle_schema.ts";
import { CAPSULE_NAME, MAX_VERSION, SEMVER } from "./names.ts";

/**
 * The one definition of `capsule.jsonc` and `boll.jsonc`: it validates, gives the types and
 * prints the JSON Schema. Only modules that really parse may import it for its values: zod is not free to load.
 */

/** The keys of `capsule.jsonc`. */
const MANIFEST_KEYS = {
  $schema: () => z.exactOptional(text("Where an editor finds this schema.")),
  name: () => z.string().check(z.regex(CAPSULE_NAME, "1 to 64 of a-z 0-9 -")),
  version: () => z.string().check(z.maxLength(MAX_VERSION), z.regex(SEMVER, "a semantic version, like 0.1.0")),
  description: () => z.exactOptional(text("One sentence for people.")),
  component: () =>
    z.exactOptional(
      text("The component's file, relative to this one and inside its folder. An agent has none.").check(
        z.minLength(1),
      ),
    ),
  args: () =>
    z.exactOptional(
      z.array(z.string().check(z.maxLength(16_384), z.regex(/^[^\0]*$/, "text without NUL"))).check(
        z.maxLength(1024),
        z.meta({ description: "Arguments before those of the command line." }),
      ),
    ),
  inference: () => z.exactOptional(inferenceSchema()),
  tools: () => z.exactOptional(toolsSchema()),
  skills: () => z.exactOptional(skillsSchema()),
  peers: () => z.exactOptional(peersSchema()),
  secrets: () => z.exactOptional(secretsSchema()),
  grants: () => z.exactOptional(grantsSchema()),
  lifecycle: () => z.exactOptional(lifecycleSchema()),
  trace: () =>
    z.exactOptional(z.strictObject({
      capture: z.exactOptional(
        z.enum(["none", "meta", "content"]).check(
          z.meta({ description: "What the trace keeps of a run beside its events. Default meta." }),
        ),
      ),
    })),
} as const;

/** The keys of `boll.jsonc`. */
const WORKSPACE_KEYS = {
  $schema: () => z.exactOptional(text("Where an editor finds this schema.")),
  capsules: () =>
    z.exactOptional(
      z.array(z.string().check(z.minLength(1), z.maxLength(1024))).check(z.maxLength(64)),
    ),
  ceiling: () => z.exactOptional(grantsSchema()),
  secrets: () =>
    z.exactOptional(
      z.array(z.string().check(z.maxLength(256), z.regex(/^[A-Za-z][A-Za-z0-9_]*$/, "a variable's name"))).check(
        z.maxLength(256),
        z.meta({
          description: "Names of the secrets that capsules below may use at all. Absent: any that they declare.",
        }),
      ),
    ),
  proxy: () =>
    z.exactOptional(
      text("The proxy that every connection of a guest leaves through, as http://host:port."),
    ),
  ca: () =>
    z.exactOptional(
      text("A PEM file of certificates to trust beside the built-in ones, relative to this one.").check(z.minLength(1)),
    ),
} as const;

type Keys = Readonly<Record<string, () => z.core.$ZodType>>;
type StrictObject<Of extends Keys> = z.ZodMiniObject<{ [Key in keyof Of]: ReturnType<Of[Key]> }, z.core.$strict>;

/** A file's schema: of all that it may have, or, given a value, of what that has and what it must have. */
export type FileSchema<Of extends Keys> = (value?: unknown) => StrictObject<Of>;

/** `capsule.jsonc`. */
export const manifestSchema: FileSchema<typeof MANIFEST_KEYS> = (value) => schemaOf(MANIFEST_KEYS, value);

/** `boll.jsonc`. */
export const workspaceSchema: FileSchema<typeof WORKSPACE_KEYS> = (value) => schemaOf(WORKSPACE_KEYS, value);

const REQUIRED: ReadonlySet<string> = new Set(["name", "version"]);

/** To make the schemas of all keys takes longer than to read a file. */
function schemaOf<Of extends Keys>(keys: Of, value: unknown): StrictObject<Of> {
  const has = (key: string) => typeof value !== "object" || value === null || Object.hasOwn(value, key);
  const wanted = Object.keys(keys).filter((key) => has(key) || REQUIRED.has(key));
  return z.strictObject(Object.fromEntries(wanted.map((key) => [key, keys[key]!()]))) as unknown as StrictObject<Of>;
}

/** `capsule.jsonc` as written. */
export type ManifestValue = z.infer<ReturnType<typeof manifestSchema>>;
/** `boll.jsonc` as written. */
export type WorkspaceValue = z.infer<ReturnType<typeof workspaceSchema>>;
