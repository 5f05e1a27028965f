import type { SwapIntel } from "./control_messages.ts";
import type { Intelligence } from "./intelligence.ts";

/** Endpoints that a comma list may name. */
export const MAX_ENDPOINTS = 16;

/** Why a list of endpoints cannot be used; names no part of it, which may hold a credential. */
export type UnusableEndpoints = { readonly fault: string };

/** What becomes of a swap: said upward as `intel.swap`, or `intel.swap.reject` with its reason. */
export type SwapReport =
  | { readonly event: "intel.swap"; readonly fields: { readonly model?: string; readonly restart: boolean } }
  | { readonly event: "intel.swap.reject"; readonly fields: { readonly reason: string } };

/** The endpoints and model from now on, and what is said of it. */
export interface SwapResult {
  readonly next: Intelligence;
  readonly report: SwapReport;
}

/**
 * The endpoints of a comma list, in failover order: `https` anywhere, `http` on loopback only, without user, password or
 * fragment, each once.
 */
export function parseEndpoints(uri: string): readonly URL[] | UnusableEndpoints {
  const parts = uri.split(",").map((part) => part.trim());
  if (parts.length > MAX_ENDPOINTS) return { fault: `uri names ${parts.length} endpoints, at most ${MAX_ENDPOINTS}` };
  const endpoints: URL[] = [];
  for (const [index, part] of parts.entries()) {
    const fault = (wanted: string) => ({ fault: `endpoint ${index + 1} of ${parts.length} in uri ${wanted}` });
    if (part === "") return fault("is empty");
    if (!URL.canParse(part)) return fault("is no URL");
    const url = new URL(part);
    if (url.protocol !== "https:" && url.protocol !== "http:") return fault("is neither https nor http");
    if (url.protocol === "http:" && !isLoopback(url.hostname)) return fault("is http and not on loopback, use https");
    if (url.username !== "" || url.password !== "") return fault("holds a user or password, use token");
    if (url.hash !== "") return fault("has a fragment");
    if (endpoints.some(({ href }) => href === url.href)) return fault("is there twice");
    endpoints.push(url);
  }
  return endpoints;
}

/**
 * Takes another model at a turn boundary: of several swaps before one boundary only
 * the last is given to this. All or nothing: an unusable `uri` leaves everything as it was. What a swap leaves out is
 * kept where it names the same endpoints: a token or header of the old ones is never sent to others. With
 * `restart-turn` the turn is to run again, only if the model really changed.
 */
export function swapIntel(current: Intelligence, swap: SwapIntel): SwapResult {
  const endpoints = parseEndpoints(swap.uri);
  if ("fault" in endpoints) {
    return { next: current, report: { event: "intel.swap.reject", fields: { reason: endpoints.fault } } };
  }
  const { uri, token, model = current.model, headers, dialect = current.dialect, policy } = swap;
  const isSame = originsOf(current.uri) === originsOf(uri);
  const kept = isSame ? current : { token: undefined, headers: [] };
  const ownToken = token ?? kept.token;
  const next: Intelligence = {
    uri,
    ...(ownToken === undefined ? {} : { token: ownToken }),
    ...(model === undefined ? {} : { model }),
    headers: headers ?? kept.headers,
    ...(dialect === undefined ? {} : { dialect }),
  };
  const restart = policy === "restart-turn" && model !== current.model;
  return { next, report: { event: "intel.swap", fields: { ...(model === undefined ? {} : { model }), restart } } };
}

/** Who would be sent a credential, in order; of an unusable list, nobody that a usable one names. */
function originsOf(uri: string): string {
  const endpoints = parseEndpoints(uri);
  return "fault" in endpoints ? "" : endpoints.map(({ origin }) => origin).join();
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
