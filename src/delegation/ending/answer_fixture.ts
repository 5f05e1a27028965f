import { join } from "@std/path";
import { PinnedFolder } from "../../hull/mod.ts";
import { DelegationIds } from "../delegation_ids.ts";
import type { OpenKeepFolder } from "./keep_answer.ts";
import { type Answer, readAnswer } from "./read_answer.ts";

/** A task's id. */
export const TASK = "tsk_01890000000070008000000000000003";

const OPEN_FOLDER = Deno.build.os === "linux" ? PinnedFolder.open : undefined;

/** A dead child's records and work folder, and the runtime directory of the session that delegated to it. */
export class AnswerBed implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "boll-answer-" });
  readonly records = this.#folder("child/records");
  readonly work = this.#folder("child/work");
  readonly runtime = this.#folder("parent/runtime");
  readonly minted = new DelegationIds();
  readonly id = this.minted.mint();
  readonly kept = join(this.runtime, "delegations", `${this.id}.txt`);

  /** Writes a result; `place` is like `work/out/result.txt`. */
  write(place: string, content: string | Uint8Array): string {
    const path = join(this.root, "child", place);
    Deno.mkdirSync(join(path, ".."), { recursive: true });
    Deno.writeFileSync(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
    return path;
  }

  /** A result of so many bytes that are nowhere on the disk. */
  writeSparse(place: string, bytes: number): void {
    Deno.truncateSync(this.write(place, ""), bytes);
  }

  /** Puts a link at a place of the child's, or of the bed's. */
  link(target: string, path: string): void {
    Deno.mkdirSync(join(path, ".."), { recursive: true });
    Deno.symlinkSync(target, path);
  }

  read(
    options: { taskId?: string; delegationId?: string; runtime?: string; openFolder?: OpenKeepFolder | undefined } = {},
  ): Promise<Answer> {
    const { taskId, delegationId = this.id, runtime = this.runtime, openFolder = OPEN_FOLDER } = options;
    return readAnswer(
      { records: this.records, work: this.work, ...(taskId === undefined ? {} : { taskId }) },
      { runtime, delegationId, minted: this.minted, openFolder },
    );
  }

  /** Every entry below the parent's folder, by its path there. */
  parentFiles(): string[] {
    const walk = (folder: string): string[] =>
      [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
        isDirectory ? walk(join(folder, name)) : [join(folder, name)]
      );
    return walk(join(this.root, "parent")).map((path) => path.slice(this.root.length + "/parent/".length)).sort();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }

  #folder(name: string): string {
    const path = join(this.root, name);
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }
}
