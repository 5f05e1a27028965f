import { assertEquals } from "@std/assert";
import { prepareGuest, startPrepared } from "../process/running_session.ts";
import { Bed } from "../harness.ts";
import { attackOn, TRIES } from "./variant/attacking_session.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

Deno.test("escape: a session's own threads, those of its pool too, read no folder that its first frame does not name [binary]", async () => {
  const variant = await buildVariant();
  await using bed = new Bed("binary");
  const outside = bed.folder("outside", { secret: "x" });
  const granted = bed.folder("granted", { file: "x" });
  /** What a session comes to that reads these folders behind these walls. */
  const attack = async (walls: string) => {
    const mounts = [{ host: granted, guest: "/data", mode: "ro" as const }];
    const folders = [outside, "/etc", granted];
    const task = { instruction: attackOn(folders) };
    const prepared = await prepareGuest(bed, "ok", { grants: { fs: { mounts } }, task });
    const launch = { ...prepared.launch, program: variant, args: [`--standing-walls=${walls}`] };
    await using started = await startPrepared({ ...prepared, launch });
    const { code, stderr } = await started.session.result();
    assertEquals(code, 0, stderr);
    const line = stderr.trimEnd().split("\n").map((text) => JSON.parse(text)).find(({ msg }) => msg === "attack");
    return folders.map((folder) => line.found[folder]);
  };
  const [read, refused] = [{ read: TRIES }, { PermissionDenied: TRIES }];
  assertEquals(await attack("g123"), [read, read, read]);
  assertEquals(await attack("g1234"), [refused, refused, read]);
});
