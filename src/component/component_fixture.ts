/** Components written for the tests of this room: text to bytes, bytes by hand, and a build in temporary folders. */
import { buildComponent } from "./build.ts";
import { adoptBuild, cacheKey, findCached } from "./cache.ts";
import type { BuildResult, CachedComponent } from "./description.ts";
import { openWasmTools, type WasmTools } from "./vendor.ts";

const encoder = new TextEncoder();

let tools: Promise<WasmTools> | undefined;

/** Component or module text to bytes; nothing is validated, so hostile names come through. */
export async function encodeText(wat: string): Promise<Uint8Array> {
  tools ??= openWasmTools();
  return (await tools).parse(wat);
}

/** A command whose `run` is `body` (an i32: 0 is ok, 1 is err), with `before` in front of everything and `core` in its module. */
export function commandText(
  { body = "i32.const 0", before = "", core = "", args = "", version = "0.2.3" } = {},
): string {
  return `(component ${before}
    (core module $m ${core} (func (export "run") (result i32) ${body}))
    (core instance $i (instantiate $m ${args}))
    (func $run (result (result)) (canon lift (core func $i "run")))
    (instance $r (export "run" (func $run)))
    (export "wasi:cli/run@${version}" (instance $r)))`;
}

/** A name as it stands in component text: every byte escaped. */
export function quote(name: string): string {
  return `"${[...encoder.encode(name)].map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("")}"`;
}

/** An unsigned LEB128. */
export function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(Math.floor(value / 128))];
}

/** A section: id, length, content. */
export function section(id: number, content: Uint8Array): Uint8Array {
  return joinBytes([Uint8Array.of(id, ...leb(content.length)), content]);
}

/** A length-prefixed name. */
export function nameBytes(name: string): Uint8Array {
  const bytes = encoder.encode(name);
  return joinBytes([Uint8Array.from(leb(bytes.length)), bytes]);
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The first eight bytes of a component and of a core module. */
export const COMPONENT_HEAD = Uint8Array.of(0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0);
export const MODULE_HEAD = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Calls `use` with a fresh folder and removes it. */
export async function inFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = Deno.makeTempDirSync({ prefix: "boll-component-" });
  try {
    return await use(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Builds bytes or text in a temporary folder and gives the result. */
export async function buildSample(sample: string | Uint8Array, memoryMb = 64): Promise<BuildResult> {
  const bytes = typeof sample === "string" ? await encodeText(sample) : sample;
  return await inFolder((folder) => buildComponent(bytes, folder, { memoryMb }));
}

/** A made-up digest. */
export const SAMPLE_DIGEST = `sha256:${"5a".repeat(32)}`;

/** Builds bytes or text and puts them into a cache below `folder`. */
export async function cacheSample(
  folder: string,
  sample: string | Uint8Array,
  memoryMb = 64,
): Promise<CachedComponent> {
  const bytes = typeof sample === "string" ? await encodeText(sample) : sample;
  const staging = Deno.makeTempDirSync({ dir: folder });
  const result = await buildComponent(bytes, staging, { memoryMb });
  const key = cacheKey(result.digest, { memoryMb });
  const cached = adoptBuild(
    `${folder}/cache`,
    { key, digest: result.digest },
    staging,
    JSON.parse(JSON.stringify(result)),
  );
  return findCached(`${folder}/cache`, key) ?? cached;
}
