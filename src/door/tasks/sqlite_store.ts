import { Task, type TaskState } from "@a2a-js/sdk";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { join } from "@std/path";
import { CapsuleError } from "../../base/mod.ts";
import { folderFault } from "../../records/mod.ts";
import type { TaskPage, TaskQuery, TaskRecord, TaskStore } from "./task_store.ts";
import type { TaskOrigin } from "../work.ts";

/** The file in the folder. */
const FILE = "tasks.sqlite";
/** What this program writes; a newer one may write otherwise. */
const VERSION = 1;
const TERMINAL = "(3, 4, 5, 7)";

const SCHEMA = `
  CREATE TABLE tasks (
    id TEXT PRIMARY KEY, context_id TEXT NOT NULL, principal TEXT NOT NULL, origin TEXT NOT NULL,
    state INTEGER NOT NULL, updated TEXT NOT NULL, task TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tasks_by_update ON tasks (updated DESC, id DESC);
  CREATE INDEX tasks_by_context ON tasks (context_id, id);
  CREATE INDEX tasks_unfinished ON tasks (id) WHERE state NOT IN ${TERMINAL};
  PRAGMA user_version = ${VERSION};
`;

/**
 * Opens the tasks of a named service, for one process at a time. Its folder must be this user's alone: SQLite follows a link
 * that somebody planted, and believes the file beside it.
 *
 * @throws `door.store_unsafe`, `door.store_unreadable`
 */
export function openSqliteStore(folder: string): TaskStore {
  const path = join(folder, FILE);
  const fault = folderFault(folder) ?? fileFault(path) ?? fileFault(`${path}-wal`);
  if (fault !== undefined) throw new CapsuleError("door.store_unsafe", `Open tasks in ${folder}: found ${fault}`);
  let database: DatabaseSync | undefined;
  try {
    Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
    database = new DatabaseSync(path);
    prepare(database);
    return new SqliteStore(database);
  } catch (error) {
    database?.close();
    if (error instanceof CapsuleError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const text = why.includes("locked") ? "another session has them open" : why;
    throw new CapsuleError("door.store_unreadable", `Open tasks in ${folder}: ${text}`, { cause: error });
  }
}

function fileFault(path: string): string | undefined {
  try {
    return Deno.lstatSync(path).isFile ? undefined : `${path} that is no file`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function prepare(database: DatabaseSync): void {
  // One process at a time: the lock is taken with the first write and kept, and no memory is shared by a file.
  database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version > VERSION) {
    throw new CapsuleError("door.store_unreadable", `Open tasks: found version ${version}, wanted at most ${VERSION}`);
  }
  database.exec(`BEGIN IMMEDIATE; ${version === 0 ? SCHEMA : ""} COMMIT;`);
}

interface Row {
  readonly principal: string;
  readonly origin: string;
  readonly task: string;
}

class SqliteStore implements TaskStore {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #find: StatementSync;
  readonly #first: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#update = database.prepare("UPDATE tasks SET state = ?, updated = ?, task = ? WHERE id = ?");
    this.#find = database.prepare("SELECT principal, origin, task FROM tasks WHERE id = ?");
    this.#first = database.prepare("SELECT principal FROM tasks WHERE context_id = ? ORDER BY id LIMIT 1");
  }

  insert({ task, principal, origin }: TaskRecord): void {
    const { state, timestamp } = task.status!;
    this.#insert.run(task.id, task.contextId, principal, origin, state, timestamp!, textOf(task));
  }

  update({ task }: TaskRecord): void {
    const { state, timestamp } = task.status!;
    const { changes } = this.#update.run(state, timestamp!, textOf(task), task.id);
    if (Number(changes) !== 1) throw new Error("Keep a task: it is not there any more");
  }

  find(id: string): TaskRecord | undefined {
    const row = this.#find.get(id) as Row | undefined;
    return row && recordOf(row);
  }

  principalOf(contextId: string): string | undefined {
    return (this.#first.get(contextId) as { principal: string } | undefined)?.principal;
  }

  list({ behind, limit, ...filter }: TaskQuery): TaskPage {
    const { where, values } = conditions(filter);
    const { total } = this.#database.prepare(`SELECT count(*) AS total FROM tasks WHERE ${where}`)
      .get(...values) as { total: number };
    const place = behind === undefined ? "" : "AND (updated, id) < (?, ?)";
    const rows = this.#database.prepare(
      `SELECT principal, origin, task FROM tasks WHERE ${where} ${place} ORDER BY updated DESC, id DESC LIMIT ?`,
    ).all(...values, ...(behind === undefined ? [] : [behind.updated, behind.id]), limit) as unknown as Row[];
    return { records: rows.map(recordOf), total };
  }

  unfinished(): TaskRecord[] {
    const rows = this.#database.prepare(
      `SELECT principal, origin, task FROM tasks WHERE state NOT IN ${TERMINAL} ORDER BY id`,
    ).all() as unknown as Row[];
    return rows.map(recordOf);
  }

  close(): void {
    this.#database.close();
  }
}

function conditions(filter: Omit<TaskQuery, "behind" | "limit">): { where: string; values: SQLInputValue[] } {
  const given: [string, SQLInputValue | TaskState | undefined][] = [
    ["principal = ?", filter.principal],
    ["context_id = ?", filter.contextId],
    ["state = ?", filter.state],
    ["updated > ?", filter.updatedAfter],
  ];
  const used = given.filter(([, value]) => value !== undefined);
  return {
    where: used.map(([condition]) => condition).join(" AND ") || "true",
    values: used.map(([, value]) => value as SQLInputValue),
  };
}

function textOf(task: Task): string {
  return JSON.stringify(Task.toJSON(task));
}

function recordOf({ principal, origin, task }: Row): TaskRecord {
  return { task: Task.fromJSON(JSON.parse(task)), principal, origin: origin as TaskOrigin };
}
