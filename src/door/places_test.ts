import { assertEquals, assertThrows } from "@std/assert";
import { DoorPlaces } from "./places.ts";

function placesAt(hostname: string, names: readonly string[] = []): DoorPlaces {
  return new DoorPlaces({ transport: "tcp", hostname, port: 8080 }, names);
}

Deno.test("DoorPlaces: bound to all addresses, any address with the port is this door, and no name but the configured", () => {
  const places = placesAt("0.0.0.0", ["agent.example"]);
  for (const host of ["10.0.0.7:8080", "127.0.0.1:8080", "[fe80::1]:8080", "localhost:8080", "agent.example"]) {
    assertEquals(places.isHost(host), true, host);
  }
  for (const host of ["evil.example:8080", "10.0.0.7", "10.0.0.7:80", "1.2.3.4.example:8080", "[fe80::1]"]) {
    assertEquals(places.isHost(host), false, host);
  }
});

Deno.test("DoorPlaces: bound to one address, that one alone", () => {
  const places = placesAt("10.0.0.7");
  assertEquals([places.isHost("10.0.0.7:8080"), places.isHost("10.0.0.8:8080")], [true, false]);
  assertEquals([places.isHost("127.0.0.1:8080"), places.isHost("localhost:8080")], [false, false]);
  assertEquals(placesAt("::1").isHost("[::1]:8080"), true);
  assertEquals(new DoorPlaces({ transport: "tcp", hostname: "127.0.0.1", port: 80 }, []).isHost("localhost"), true);
});

Deno.test("DoorPlaces: an origin is this door's when its place is; https stands for 443", () => {
  const places = placesAt("127.0.0.1", ["tls.example:443", "any.example"]);
  for (
    const origin of ["http://127.0.0.1:8080", "https://tls.example", "https://any.example", "http://any.example:99"]
  ) {
    assertEquals(places.isOrigin(origin), true, origin);
  }
  for (
    const origin of [
      "null",
      "",
      "http://127.0.0.1",
      "http://tls.example",
      "file://127.0.0.1:8080",
      "https://evil.example",
      "http://127.0.0.1:8080/x",
    ]
  ) {
    assertEquals(places.isOrigin(origin), false, origin);
  }
});

Deno.test("DoorPlaces: a name that is none is refused", () => {
  for (const name of ["", "a b", "http://a", "a:b", "a:99999", "a/b", "user@a"]) {
    assertThrows(() => placesAt("127.0.0.1", [name]), RangeError, name);
  }
});
