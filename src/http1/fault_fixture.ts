import { HeadFault } from "./mod.ts";

/** Those of the cases that are no fault. */
export function accepted<T>(cases: readonly T[], run: (one: T) => unknown): T[] {
  return cases.filter((one) => {
    try {
      run(one);
      return true;
    } catch (error) {
      if (error instanceof HeadFault) return false;
      throw error;
    }
  });
}
