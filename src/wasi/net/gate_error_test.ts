import { assertEquals } from "@std/assert";
import { failureOfGate, failureOfTls, failureOfWire } from "./gate_error.ts";

Deno.test("failures: rustls' words have their code; a word of the gate that is none is a failure too", () => {
  const tls = (message: string) => failureOfTls(new Deno.errors.InvalidData(message)).http;
  assertEquals(tls("invalid peer certificate: UnknownIssuer"), { tag: "TLS-certificate-error" });
  assertEquals(tls("received fatal alert: HandshakeFailure"), {
    tag: "TLS-alert-received",
    val: { alertMessage: "HandshakeFailure" },
  });
  assertEquals(tls("received corrupt message of type InvalidContentType"), { tag: "TLS-protocol-error" });
  assertEquals(failureOfTls(new Deno.errors.ConnectionReset("reset")).http, { tag: "connection-terminated" });
  assertEquals(failureOfGate("toString").http, { tag: "destination-unavailable" });
  assertEquals(failureOfGate("denied").network, "access-denied");
  assertEquals(failureOfWire(new Error("x")).network, "connection-reset");
});
