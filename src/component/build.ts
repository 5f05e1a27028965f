import type { BuildOptions, BuildResult } from "./description.ts";

/** Describes, checks, caps and transpiles component bytes into `stagingDir`. @throws component.* */
export function buildComponent(
  _bytes: Uint8Array,
  _stagingDir: string,
  _options: BuildOptions,
): Promise<BuildResult> {
  throw new Error("not built yet");
}
