import { assert, assertStringIncludes } from "@std/assert";
import { NO_GRANTS } from "../../grants/mod.ts";
import { describeGrants } from "./describe_grants.ts";

Deno.test("describeGrants: connections, ports to listen on and capsules to start in a person's words, nothing where there are none", () => {
  const text = describeGrants({ ...NO_GRANTS, net: ["https://*.example.com", "listen:8080", "tcp://a.example:6379"] });
  assertStringIncludes(text, "  connections to https://*.example.com, tcp://a.example:6379\n");
  assertStringIncludes(text, "  listening on port 8080 of this machine's loopback\n");
  const spawning = describeGrants({ ...NO_GRANTS, spawn: ["worker", "a\x1b[31m"] });
  assertStringIncludes(
    spawning,
    "it may start the capsules worker, a\\u{1b}[31m, each with no more than it has itself\n",
  );
  const none = describeGrants(NO_GRANTS);
  assert(!none.includes("connections") && !none.includes("listening") && !none.includes("delegation"), none);
});
