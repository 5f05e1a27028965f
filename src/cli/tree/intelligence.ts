import { CapsuleError, printableLine } from "../../base/mod.ts";
import { peerSecrets, type ResolvedModel } from "../../grants/mod.ts";
import type { Peer } from "../../manifest/mod.ts";
import type { Intelligence, Remote } from "../../protocol/control/mod.ts";
import type { Context } from "../verb.ts";

/** The longest value that is sent as a header, characters. */
const MAX_SECRET_LENGTH = 16_384;

/**
 * An agent's model as its session is told of it. The only file where the value of a secret is read: from here it goes
 * into the session's first frame, and to nobody else.
 * @throws {CapsuleError} `secret.unusable`, naming the variable and never its value
 */
export function readIntelligence(
  { grant, playbook = "" }: Required<Pick<ResolvedModel, "grant">> & ResolvedModel,
  readVariable: Context["readVariable"],
): Intelligence {
  const { dialect, endpoints, model, api_key, headers } = grant;
  const named = model === undefined ? {} : { model };
  if (dialect === "scripted") {
    return { uri: `data:application/json,${encodeURIComponent(playbook)}`, dialect, ...named, headers: [] };
  }
  const read = (name: string) => readSecret(name, grant.secrets, readVariable);
  return {
    uri: endpoints.join(","),
    dialect,
    ...named,
    ...(api_key === undefined ? {} : { token: read(api_key), credential: api_key }),
    headers: headers.map((header) => [header.name, "secret" in header ? read(header.secret) : header.value] as const),
  };
}

/**
 * The peers of an agent as its session is told of them.
 * @throws {CapsuleError} `secret.unusable`, naming the variable and never its value
 */
export function readPeers(peers: readonly Peer[], readVariable: Context["readVariable"]): Remote[] {
  const secrets = peerSecrets(peers);
  return peers.map(({ name, url, token }) => ({
    name,
    url,
    ...(token === undefined ? {} : { token: readSecret(token, secrets, readVariable) }),
    headers: [],
  }));
}

function readSecret(
  name: string,
  secrets: Readonly<Record<string, readonly string[]>>,
  readVariable: Context["readVariable"],
): string {
  const value = readVariable(name);
  const refuse = (why: string) =>
    new CapsuleError(
      "secret.unusable",
      `Read the secret ${printableLine(name)}: ${why}; its value is sent to ${(secrets[name] ?? []).join(", ")}`,
    );
  if (value === undefined) throw refuse(`this variable is not set, export ${printableLine(name)}=… before`);
  if (value === "") throw refuse(`this variable is empty, export ${printableLine(name)}=… before`);
  if (value.length > MAX_SECRET_LENGTH) throw refuse(`found more than ${MAX_SECRET_LENGTH} characters`);
  // What a header cannot hold would end one, or begin another.
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw refuse("found a line end, a space at an end or another character that no header may hold");
  }
  return value;
}
