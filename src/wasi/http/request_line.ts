import { normalizeHost } from "../../grants/mod.ts";
import type { Place } from "../net/gate_way.ts";
import { isToken } from "../net/head.ts";

/** `method` of `wasi:http/types`. */
export interface Method {
  readonly tag: string;
  readonly val?: string;
}

/** `scheme` of `wasi:http/types`. */
export interface Scheme {
  readonly tag: string;
  readonly val?: string;
}

const NAMED: ReadonlySet<string> = new Set([
  ...["get", "head", "post", "put", "delete", "connect", "options", "trace", "patch"],
]);

/** The word of a method; undefined when it is none. */
export function methodText({ tag, val }: Method): string | undefined {
  if (NAMED.has(tag)) return tag.toUpperCase();
  return tag === "other" && typeof val === "string" && val.length <= 64 && isToken(val) ? val : undefined;
}

/** A word as a method. */
export function methodOf(text: string): Method {
  const tag = text.toLowerCase();
  return NAMED.has(tag) && tag.toUpperCase() === text ? { tag } : { tag: "other", val: text };
}

/** The word of a scheme in lower case, `https` when there is none; undefined when it is no scheme. */
export function schemeText(scheme: Scheme | undefined): string | undefined {
  if (scheme === undefined) return "https";
  if (scheme.tag === "HTTP" || scheme.tag === "HTTPS") return scheme.tag.toLowerCase();
  const { val } = scheme;
  const isScheme = scheme.tag === "other" && typeof val === "string" && /^[a-z][a-z0-9+.-]{0,63}$/i.test(val);
  return isScheme ? val.toLowerCase() : undefined;
}

/** Whether a text may stand as path and query: empty, or from `/` or `?` on, printable, without a fragment. */
export function isPathWithQuery(text: string): boolean {
  return text === "" || /^[/?][\x21\x22\x24-\x7e]*$/.test(text);
}

/**
 * Host and port of an authority, normalised; undefined for what is none, has user information, or names an address in
 * disguise.
 */
export function readAuthority(text: string, defaultPort: number): Place | undefined {
  const [, name, digits] = /^(\[[0-9A-Fa-f:.]+\]|[^:@/?#[\]\s]+)(?::(\d{1,5})?)?$/.exec(text) ?? [];
  const host = name === undefined ? undefined : normalizeHost(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}
