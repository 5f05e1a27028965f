/**
 * What once broke something: `cases/TARGET_NAME.b64` holds its bytes, `cases/README.md` what it broke. Tried before
 * anything else.
 * @module
 */
import { Buffer } from "node:buffer";

/** The kept cases of a target, as bytes. */
export function keptBytes(target: string): Uint8Array[] {
  const folder = new URL("./cases/", import.meta.url);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  return names.filter((name) => name.startsWith(`${target}_`) && name.endsWith(".b64")).map((name) =>
    new Uint8Array(Buffer.from(Deno.readTextFileSync(new URL(name, folder)), "base64"))
  );
}

/** The kept cases of a target, as text. */
export function keptTexts(target: string): string[] {
  return keptBytes(target).map((bytes) => new TextDecoder().decode(bytes));
}
