import { assertEquals } from "@std/assert";
import { openFixture } from "./host_fixture.ts";

/** Runs the fixture in a worker that may read and write `granted`. */
async function runScoped(granted: string[], folders: Record<string, string>): Promise<unknown> {
  const worker = new Worker(new URL("./scoped_worker_fixture.ts", import.meta.url), {
    type: "module",
    deno: {
      permissions: {
        read: granted,
        write: granted,
        net: false,
        env: false,
        run: false,
        ffi: false,
        sys: false,
        import: false,
      },
    },
  });
  try {
    return await new Promise((done, fail) => {
      worker.onmessage = (event) => done(event.data);
      worker.onerror = (event) => (event.preventDefault(), fail(new Error(event.message)));
      worker.postMessage(folders);
    });
  } finally {
    worker.terminate();
  }
}

Deno.test("files: every function works in a worker scoped to the granted folders, none beyond", async () => {
  using fixture = openFixture();
  const { root, otherRoot, outside } = fixture;
  assertEquals(await runScoped([root, otherRoot], { root, otherRoot, outside }), {
    done: ["g", "te", "directory"],
    denials: [],
  });
  Deno.removeSync(`${otherRoot}/hard`);
  const refused = await runScoped([root], { root, otherRoot, outside }) as { error: string };
  assertEquals(refused.error.includes("NotCapable") || refused.error === "not-permitted", true, refused.error);
});
