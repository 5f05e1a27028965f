import { assertEquals, assertStringIncludes } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { waitForEnd } from "../processes.ts";
import { startProbe, WAYS_TO_BE_BUSY } from "./guest_run.ts";
import { temporaryFolders } from "./leftovers.ts";

const [busy] = Object.values(WAYS_TO_BE_BUSY) as [string];

forExecutable("boll gc: takes nothing of a living run, and everything that a killed one left", async (bed) => {
  const { running, cell } = await startProbe(bed, busy);
  // The cell's, and the one of the control socket, which is opened beside.
  while (temporaryFolders(bed).length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  const following = bed.start(["trace", "follow", "--json"]);
  await following.stdout.waitFor('"session_start"');
  const all = ["gc", "--keep", "0", "--older-than", "0", "--json"];
  const living = JSON.parse((await bed.run(all)).stdout);
  assertEquals([living.sessions.removed, living.sessions.running, living.failed], [0, 1, []]);
  assertEquals([living.temporary, living.cache.removed], [{ removed: 0, kept: 2, bytes: 0 }, 0]);
  const listed = JSON.parse((await bed.run(["sessions", "--json"])).stdout);
  assertEquals(listed.status, "running");
  const refused = await bed.run(["rm", listed.session_id]);
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.lastLine, "is running");
  assertEquals((await bed.run(["trace", "show"])).code, 0);

  running.child.kill("SIGKILL");
  await waitForEnd(cell);
  await running.result();
  const followed = await following.result();
  assertEquals(followed.code, 0);
  assertEquals(JSON.parse(followed.stdout.trimEnd().split("\n").at(-1)!)["ended_by"], "crashed");
  assertEquals(temporaryFolders(bed).length, 2);
  assertEquals(
    JSON.parse((await bed.run(["sessions", "--status", "crashed", "--json"])).stdout).capsule,
    listed.capsule,
  );
  const dead = JSON.parse((await bed.run(all)).stdout);
  assertEquals([dead.sessions.removed, dead.temporary.removed, dead.cache.removed], [1, 2, 1]);
  assertEquals([temporaryFolders(bed), [...Deno.readDirSync(`${bed.home}/sessions`)]], [[], []]);
  assertEquals([...Deno.readDirSync(`${bed.home}/cache`)], []);
});

forExecutable("boll trace follow: Ctrl-C ends it with 130, and the run goes on", async (bed) => {
  const { running } = await startProbe(bed, busy);
  const following = bed.start(["trace", "follow"]);
  await following.stdout.waitFor("walls");
  following.child.kill("SIGINT");
  assertEquals((await following.result()).code, 130);
  running.child.kill("SIGINT");
  assertEquals((await running.result()).code, 130);
});
