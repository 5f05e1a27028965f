import { createHash } from "node:crypto";

/** The hash that `Credentials` hold of a token: SHA-256 of its text, hex. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
