import { CapsuleError } from "../../../base/mod.ts";
import { type Dialect, type Intelligence, parseEndpoints } from "../../../protocol/control/mod.ts";

/** A dialect of the network. */
export type WireDialect = Exclude<Dialect, "scripted">;

/** One place where the model is. */
export interface ModelEndpoint {
  readonly url: URL;
  readonly index: number;
  /** For messages: its place in the list and its origin, never its path, which may hold a secret. */
  readonly label: string;
  /** On this machine: no proxy is asked, whose loopback would be its own. */
  readonly isLoopback: boolean;
  /** For reports: one word. */
  readonly transport: "http" | "https";
}

/** What goes with every request. Holds credentials: never to be shown. */
export interface ModelCredentials {
  /** Replace what a library sets. */
  readonly headers: Headers;
  /** The values that must not be seen. */
  readonly secrets: readonly string[];
}

/** The endpoints in failover order. @throws `model.rejected` */
export function endpointsOf({ uri }: Intelligence): readonly ModelEndpoint[] {
  const urls = parseEndpoints(uri);
  if ("fault" in urls) throw new CapsuleError("model.rejected", `Open the model: found that ${urls.fault}`);
  return urls.map((url, index) => ({
    url,
    index,
    label: urls.length === 1 ? url.origin : `${url.origin} (${index + 1} of ${urls.length})`,
    isLoopback: url.hostname === "localhost" || url.hostname === "[::1]" || url.hostname.startsWith("127."),
    transport: url.protocol === "https:" ? "https" : "http",
  }));
}

/** A place below the endpoint, with the endpoint's own query. */
export function urlBelow({ url }: ModelEndpoint, path: string): string {
  const below = new URL(url);
  below.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  return below.href;
}

/** The headers of every request. @throws `model.rejected` naming the header that cannot be sent, never its value */
export function credentialsOf(intelligence: Intelligence, dialect: WireDialect): ModelCredentials {
  const { token, headers: more } = intelligence;
  const headers = new Headers();
  if (token !== undefined && token !== "") {
    if (dialect === "openai") setHeader(headers, "authorization", `Bearer ${token}`);
    else setHeader(headers, "x-api-key", token);
  }
  for (const [name, value] of more) setHeader(headers, name, value);
  const queries = endpointsOf(intelligence).flatMap(({ url }) => [...url.searchParams.values()]);
  const secrets = [...token === undefined ? [] : [token], ...more.map(([, value]) => value), ...queries];
  return { headers, secrets };
}

/** Headers that frame a request: whoever could set them could hide a second one in it. */
const FRAMING = new Set(["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"]);

function setHeader(headers: Headers, name: string, value: string): void {
  const shown = /^[A-Za-z0-9-]{1,64}$/.test(name) ? name.toLowerCase() : "one whose name is none";
  const refuse = (found: string) =>
    new CapsuleError(
      "model.rejected",
      `Open the model: found ${found} in the header ${shown}, wanted one that can be sent`,
    );
  if (FRAMING.has(shown)) throw refuse("the framing of a request");
  try {
    headers.set(name, value);
  } catch {
    // The engine's own message shows the value.
    throw refuse("a name or value that HTTP does not allow");
  }
}
