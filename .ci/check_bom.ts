/**
 * The rules of CycloneDX 1.6 for the part of it that a bill of materials here uses: a key outside of that part is refused.
 * @module
 */
import * as z from "zod/mini";

const REF = z.string().check(z.minLength(1));
const HASH = z.union([
  z.strictObject({ alg: z.literal("SHA-256"), content: z.string().check(z.regex(/^[0-9a-f]{64}$/)) }),
  z.strictObject({ alg: z.literal("SHA-512"), content: z.string().check(z.regex(/^[0-9a-f]{128}$/)) }),
]);
const LICENCES = z.union([
  z.array(z.strictObject({ license: z.strictObject({ id: z.string().check(z.regex(/^[A-Za-z0-9.-]+$/)) }) })),
  z.tuple([
    z.strictObject({ expression: z.string().check(z.regex(/^[A-Za-z0-9.-]+( (WITH|AND|OR) [A-Za-z0-9.-]+)+$/)) }),
  ]),
]);
/** `pkg:type/namespace/name@version`, a scope's `@` escaped, as the specification of package URLs has it. */
const PURL = z.string().check(
  z.regex(/^pkg:(npm|github|generic)\/(%40)?[a-z0-9._-]+(\/[a-z0-9._-]+)?@[A-Za-z0-9.+-]+$/),
);
const COMPONENT = z.strictObject({
  type: z.enum(["application", "library", "file"]),
  "bom-ref": REF,
  group: z.optional(z.string()),
  name: z.string(),
  version: z.optional(z.string()),
  description: z.optional(z.string()),
  hashes: z.optional(z.array(HASH)),
  licenses: z.optional(LICENCES),
  purl: z.optional(PURL),
  properties: z.optional(z.array(z.strictObject({ name: z.string(), value: z.string() }))),
});
const BOM = z.strictObject({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.6"),
  serialNumber: z.string().check(
    z.regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  ),
  version: z.literal(1),
  metadata: z.strictObject({
    lifecycles: z.array(z.strictObject({ phase: z.literal("build") })),
    component: COMPONENT,
  }),
  components: z.array(COMPONENT),
  dependencies: z.array(z.strictObject({ ref: REF, dependsOn: z.array(REF) })),
  compositions: z.array(z.strictObject({
    aggregate: z.enum(["complete", "incomplete", "unknown"]),
    assemblies: z.optional(z.array(REF)),
    dependencies: z.optional(z.array(REF)),
  })),
});

/** A bill of materials that holds to the rules. */
export type CheckedBom = z.infer<typeof BOM>;

/** @throws Error when a rule is broken: of the form, of references, or that what is not a file is licensed and has a purl. */
export function checkBom(value: unknown): CheckedBom {
  const bom = z.parse(BOM, value);
  const components = [bom.metadata.component, ...bom.components];
  const refs = components.map((component) => component["bom-ref"]);
  checkUnique("bom-ref", refs);
  checkUnique("dependency", bom.dependencies.map(({ ref }) => ref));
  const used = [
    ...bom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]),
    ...bom.compositions.flatMap(({ assemblies = [], dependencies = [] }) => [...assemblies, ...dependencies]),
  ];
  for (const ref of used) {
    if (!refs.includes(ref)) throw new Error(`Check a reference: found ${ref}, wanted the bom-ref of a component`);
  }
  for (const { type, name, licenses, version, purl } of bom.components) {
    if (type === "file" || (licenses && version && purl)) continue;
    throw new Error(`Check ${name}: wanted a licence, a version and a purl`);
  }
  return bom;
}

function checkUnique(what: string, values: readonly string[]): void {
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (twice !== undefined) throw new Error(`Check each ${what}: found ${twice} twice, wanted it once`);
}
