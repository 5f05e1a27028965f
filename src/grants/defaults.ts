import { DEFAULT_LIMITS, type Grants } from "./grants.ts";

/** The grants of a capsule that declares none: stdio, clocks and random, nothing else. */
export const NO_GRANTS: Grants = {
  fs: { mounts: [] },
  env: [],
  stdio: true,
  clocks: true,
  random: true,
  limits: DEFAULT_LIMITS,
};
