import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { ask, message, request, WireConnection } from "./wire_client.ts";

const PROGRAM = join(import.meta.dirname!, "durable_door.ts");

/** A process with a door over a folder. */
class DoomedDoor {
  readonly #child: Deno.ChildProcess;
  readonly port: number;

  private constructor(child: Deno.ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(folder: string, how: "idempotent" | "once"): Promise<DoomedDoor> {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--allow-all",
        "--no-check",
        "--frozen",
        PROGRAM,
        `${folder}/tasks`,
        `${folder}/runs`,
        how,
      ],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    let said = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })) {
      said += text;
      if (said.endsWith("\n")) break;
    }
    return new DoomedDoor(child, Number(said));
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.stdout.cancel().catch(() => {});
    await this.#child.status;
  }
}

/** Sends messages until the door is gone, and notes the ids of those that were accepted. */
async function sendOn(port: number, accepted: string[]): Promise<void> {
  const params = { ...message("some text"), configuration: { returnImmediately: true } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  const text = request(port, { headers: { "a2a-version": "1.0" }, body });
  try {
    using connection = await WireConnection.open(port);
    for (;;) {
      await connection.send(text);
      accepted.push(JSON.parse((await connection.reply()).body).result.task.id);
    }
  } catch { /* it was killed */ }
}

async function stateOf(port: number, id: string): Promise<string> {
  const { body } = await ask(port, { method: "GET", path: `/v1/tasks/${id}`, headers: { "a2a-version": "1.0" } });
  return JSON.parse(body).status?.state ?? body;
}

for (const how of ["once", "idempotent"] as const) {
  Deno.test(`killed under load, four times, ${how}: no accepted task is lost, or done twice without being told`, async () => {
    const folder = Deno.makeTempDirSync();
    try {
      Deno.mkdirSync(`${folder}/tasks`, { mode: 0o700 });
      const accepted: string[] = [];
      for (let round = 1; round <= 4; round++) {
        const door = await DoomedDoor.start(folder, how);
        const sending = Array.from({ length: 4 }, () => sendOn(door.port, accepted));
        while (accepted.length < 60 * round) await new Promise<void>((resolve) => setTimeout(resolve));
        await door.kill();
        await Promise.all(sending);
      }
      assertEquals(new Set(accepted).size, accepted.length);
      const last = await DoomedDoor.start(folder, how);
      const ends = new Map<string, number>();
      const failed = new Set<string>();
      for (const id of accepted) {
        let state: string;
        do state = await stateOf(last.port, id); while (/SUBMITTED|WORKING/.test(state));
        ends.set(state, (ends.get(state) ?? 0) + 1);
        if (/FAILED/.test(state)) failed.add(id);
      }
      await last.kill();
      const runs = Deno.readTextFileSync(`${folder}/runs`).trim().split("\n").map((line) => line.split(" "));
      const begun = runs.map(([id]) => id!);
      // One may be cut down between the record that it begins and its first word.
      for (const id of accepted) assert(begun.includes(id) || failed.has(id), `${id} was never begun`);
      // The kill takes what was under way: at most one each time, and its end says so.
      const again = runs.filter(([, which]) => which === "again");
      if (how === "once") {
        assertEquals(new Set(begun).size, begun.length);
        assertEquals([...ends.keys()].filter((state) => !/COMPLETED|FAILED/.test(state)), []);
        assert(failed.size <= 4, JSON.stringify([...ends]));
      } else {
        assertEquals([...ends.keys()], ["TASK_STATE_COMPLETED"]);
        assert(begun.length - new Set(begun).size <= again.length, "one ran twice and was not told");
        assert(again.length <= 4, String(again.length));
      }
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}
