import { type Field, trimSpace, valuesOf } from "../http1/mod.ts";

/** Fields that are between two neighbours, and never passed on (RFC 9110 §7.6.1), and those that the gate makes anew. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization"],
  ...["proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "http2-settings"],
]);

/** The fields that are passed on: not those of one hop, not those that `Connection` names, not those of the gate. */
export function endToEnd(fields: readonly Field[]): Field[] {
  const named = new Set(
    valuesOf(fields, "connection").flatMap((value) => value.toLowerCase().split(",").map(trimSpace)),
  );
  return fields.filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name) && !name.startsWith("x-boll-"));
}
