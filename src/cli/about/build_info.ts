/** Which build this is: baked into the executable when it was made, read from the checkout under `deno run`. */
export interface BuildInfo {
  /** Version of boll, semver. */
  readonly version: string;
  /** What the executable was made from: `unofficial` is a third party's copy of the base and fit for tests only. */
  readonly base: "official" | "unofficial" | "source";
}

// Free names that `.ci/build.ts` replaces by texts.
declare const BOLL_VERSION: string | undefined;
declare const BOLL_BASE: "official" | "unofficial" | undefined;

/** This build. */
export const BUILD_INFO: BuildInfo = typeof BOLL_VERSION === "string" && typeof BOLL_BASE === "string"
  ? { version: BOLL_VERSION, base: BOLL_BASE }
  : { version: readCheckoutVersion(), base: "source" };

function readCheckoutVersion(): string {
  return JSON.parse(Deno.readTextFileSync(new URL("../../../deno.json", import.meta.url))).version;
}
