import type { HttpError } from "../http/http_error.ts";
import type { NetworkError } from "../sockets/network_error.ts";
import { WireFailure } from "./wire_failure.ts";

/** What the gate says in `x-boll-error` → what a guest is told. */
const TOLD: Readonly<Record<string, readonly [HttpError, NetworkError]>> = {
  "bad-request": [{ tag: "HTTP-request-URI-invalid" }, "invalid-argument"],
  "unauthorized": [{ tag: "configuration-error" }, "unknown"],
  "denied": [{ tag: "HTTP-request-denied" }, "access-denied"],
  "destination-ip-prohibited": [{ tag: "destination-IP-prohibited" }, "access-denied"],
  "dns-error": [{ tag: "DNS-error", val: {} }, "name-unresolvable"],
  "dns-timeout": [{ tag: "DNS-timeout" }, "temporary-resolver-failure"],
  "connection-refused": [{ tag: "connection-refused" }, "connection-refused"],
  "connection-timeout": [{ tag: "connection-timeout" }, "timeout"],
  "connection-terminated": [{ tag: "connection-terminated" }, "connection-reset"],
  "connection-limit-reached": [{ tag: "connection-limit-reached" }, "new-socket-limit"],
  "destination-unavailable": [{ tag: "destination-unavailable" }, "remote-unreachable"],
  "http-protocol-error": [{ tag: "HTTP-protocol-error" }, "unknown"],
  "bytes-limit": [{ tag: "internal-error", val: "the limit of bytes is reached" }, "connection-aborted"],
  "upstream-failed": [{ tag: "destination-unavailable" }, "remote-unreachable"],
  "closed": [{ tag: "connection-terminated" }, "connection-aborted"],
};

/** A word of the gate as a failure; a word that is none is a failure too. */
export function failureOfGate(error: string): WireFailure {
  const [http, network] = Object.hasOwn(TOLD, error) ? TOLD[error]! : TOLD["destination-unavailable"]!;
  return new WireFailure(http, network);
}

/** What Deno threw on an open connection. */
export function failureOfWire(error: unknown): WireFailure {
  if (error instanceof WireFailure) return error;
  if (error instanceof Deno.errors.ConnectionRefused) return failureOfGate("connection-refused");
  if (error instanceof Deno.errors.TimedOut) return failureOfGate("connection-timeout");
  return failureOfGate("connection-terminated");
}

/** What a TLS handshake threw, in rustls' words. */
export function failureOfTls(error: unknown): WireFailure {
  if (error instanceof WireFailure) return error;
  const message = error instanceof Error ? error.message : "";
  const alert = /received fatal alert: (?:the peer )?(\w{1,40})/.exec(message)?.[1];
  if (alert !== undefined) {
    return new WireFailure({ tag: "TLS-alert-received", val: { alertMessage: alert } }, "unknown");
  }
  if (/invalid peer certificate|certificate/i.test(message)) {
    return new WireFailure({ tag: "TLS-certificate-error" }, "unknown");
  }
  const isReset = error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.UnexpectedEof;
  if (isReset && !/tls|handshake/i.test(message)) return failureOfGate("connection-terminated");
  return new WireFailure({ tag: "TLS-protocol-error" }, "unknown");
}
