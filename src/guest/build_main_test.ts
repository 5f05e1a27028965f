import { assertEquals } from "@std/assert";

Deno.test("buildInCell: without a kernel wall too it gives up all but files before it reads the component", async () => {
  const worker = new Worker(new URL("./build_main_fixture.ts", import.meta.url), {
    type: "module",
    deno: { permissions: "inherit" },
  });
  const told = await new Promise<unknown>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
  });
  worker.terminate();
  const all = ["net", "env", "run", "ffi", "sys", "import", "read"];
  assertEquals(told, { before: all, after: ["read"], error: "NotFound" });
});
