import { cappedLength } from "./hosted.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_PER_CALL = 65_536; // what getRandomValues gives at once

/** `wasi:random/random`, `insecure` and `insecure-seed`: all three from the system's generator. */
export function randomImports(): Record<string, Record<string, unknown>> {
  return {
    "wasi:random/random": { getRandomBytes: randomBytes, getRandomU64: randomU64 },
    "wasi:random/insecure": { getInsecureRandomBytes: randomBytes, getInsecureRandomU64: randomU64 },
    "wasi:random/insecure-seed": { insecureSeed: () => [randomU64(), randomU64()] },
  };
}

// WASI has no way to answer with fewer bytes or an error: past the cap the guest ends.
function randomBytes(length: bigint): Uint8Array {
  const count = cappedLength(length, MAX_BYTES + 1);
  if (count > MAX_BYTES) throw new Error(`Give random bytes: found ${length}, wanted at most ${MAX_BYTES} in one call`);
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += MAX_PER_CALL) crypto.getRandomValues(bytes.subarray(at, at + MAX_PER_CALL));
  return bytes;
}

function randomU64(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!;
}
