import { CapsuleError, printableLine } from "../../base/mod.ts";

const MAX_CA_BYTES = 1024 * 1024;

/** The PEM text of a file of certificates. @throws `workspace.invalid` when it is none */
export function readCertificates(path: string): string {
  const fault = (why: string, cause?: unknown) =>
    new CapsuleError(
      "workspace.invalid",
      `Read certificates ${printableLine(path)}: ${why}; correct ca in boll.jsonc`,
      {
        cause,
      },
    );
  let text: string;
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile || size > MAX_CA_BYTES) throw fault(`found no file of at most ${MAX_CA_BYTES} bytes`);
    text = Deno.readTextFileSync(path);
  } catch (error) {
    throw error instanceof CapsuleError ? error : fault("it cannot be read", error);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw fault("found no PEM certificate");
  return text;
}
