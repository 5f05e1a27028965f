import { assert, assertEquals, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { CapsuleError } from "../../base/mod.ts";
import { DoorFolder, hashToken } from "./door_folder.ts";
import { findService, isServiceRunning, listServices, ownService } from "./services.ts";

function withRoot(use: (root: string) => void): void {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-door-" }));
  try {
    use(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

const codeOf = (call: () => unknown) => assertThrows(call, CapsuleError).code;

Deno.test("DoorFolder: one token for its owner, one for each peer, of which the hash is kept; a new one takes the old one's place", () =>
  withRoot((root) => {
    const folder = new DoorFolder(join(root, "door"));
    assertEquals([folder.exists(), folder.readToken()], [false, undefined]);
    folder.make();
    const token = folder.ownToken();
    assertEquals([token.length, folder.ownToken(), folder.readToken()], [43, token, token]);
    assertEquals(Deno.statSync(join(root, "door", "token")).mode! & 0o777, 0o600);
    const [first, second] = [folder.addPeer("editor"), folder.addPeer("editor")];
    assert(first !== second && first !== token);
    assertEquals(folder.peers(), [{ name: "editor", token_hash: hashToken(second) }]);
    assert(!Deno.readTextFileSync(join(root, "door", "peers.json")).includes(second));
    assertEquals([folder.revokePeer("editor"), folder.revokePeer("editor"), folder.peers()], [true, false, []]);
    folder.forgetToken();
    assertEquals(folder.readToken(), undefined);
  }));

Deno.test("DoorFolder: a name that is none, a list that is junk, a planted link, a folder that others may write", () =>
  withRoot((root) => {
    const folder = new DoorFolder(join(root, "door"));
    folder.make();
    for (const name of ["", "../x", "a b", "-x", "x".repeat(65), "é", "owner", "anonymous"]) {
      assertEquals(codeOf(() => folder.addPeer(name)), "usage.bad_value", name);
    }
    for (const junk of ["{", "{}", '[{"name":"a"}]', '[{"name":"a","token_hash":"00"}]', '[{"name":"../a"}]']) {
      Deno.writeTextFileSync(join(root, "door", "peers.json"), junk);
      assertEquals(codeOf(() => folder.peers()), "records.unreadable", junk);
    }
    Deno.writeTextFileSync(join(root, "elsewhere"), "x".repeat(43));
    Deno.symlinkSync(join(root, "elsewhere"), join(root, "door", "token"));
    assertEquals(folder.readToken(), undefined);
    Deno.mkdirSync(join(root, "shared"));
    Deno.chmodSync(join(root, "shared"), 0o777);
    assertEquals(codeOf(() => new DoorFolder(join(root, "shared")).make()), "home.unwritable");
  }));

Deno.test("ownService: one owner at a time, found by its name whether it runs or not; a name is no path", () =>
  withRoot((root) => {
    assertEquals([listServices({ root }), findService({ root }, "scribe")], [[], undefined]);
    const first = ownService({ root }, "scribe");
    assertEquals(codeOf(() => ownService({ root }, "scribe")), "service.running");
    assertEquals([listServices({ root }), isServiceRunning(first.folder)], [["scribe"], true]);
    first[Symbol.dispose]();
    assertEquals([findService({ root }, "scribe")?.path, isServiceRunning(first.folder)], [first.folder.path, false]);
    ownService({ root }, "scribe")[Symbol.dispose]();
    for (const name of ["", "../x", "A", "a/b", "x".repeat(65)]) {
      assertEquals(codeOf(() => ownService({ root }, name)), "usage.bad_value", name);
    }
  }));
