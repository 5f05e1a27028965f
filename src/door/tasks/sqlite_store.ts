import { Task, type TaskState } from "@a2a-js/sdk";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { join } from "@std/path";
import { CapsuleError } from "../../base/mod.ts";
import { folderFault } from "../../records/mod.ts";
import type { Clock } from "../clock.ts";
import type { DoorLimits } from "../limits.ts";
import type { TaskPage, TaskQuery, TaskRecord, TaskStore } from "./task_store.ts";
import { hasEnded } from "./task_words.ts";
import type { TaskOrigin } from "../work.ts";

/** The file in the folder. */
const FILE = "tasks.sqlite";
/** What this program writes; a newer one may write otherwise. */
const VERSION = 2;
const TERMINAL = "(3, 4, 5, 7)";

const SCHEMA = `
  CREATE TABLE tasks (
    id TEXT PRIMARY KEY, context_id TEXT NOT NULL, principal TEXT NOT NULL, origin TEXT NOT NULL,
    state INTEGER NOT NULL, updated TEXT NOT NULL, task TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tasks_by_update ON tasks (updated DESC, id DESC);
  CREATE INDEX tasks_by_context ON tasks (context_id, id);
  CREATE INDEX tasks_unfinished ON tasks (id) WHERE state NOT IN ${TERMINAL};
`;

/** Since version 2: whose a context is must not change when its first task goes. */
const CONTEXTS = `
  CREATE TABLE contexts (id TEXT PRIMARY KEY, principal TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO contexts SELECT context_id, principal FROM tasks
    WHERE id IN (SELECT min(id) FROM tasks GROUP BY context_id);
  PRAGMA user_version = ${VERSION};
`;

/** What is kept of tasks that have ended. */
export interface KeptTasks extends Pick<DoorLimits, "keptTasks" | "keptBytes" | "keptMs"> {}

/** Options of {@link openSqliteStore}. */
export interface SqliteStoreOptions {
  readonly limits: KeptTasks;
  readonly clock: Pick<Clock, "now">;
}

/** So much of a bound is left when it was met: it is not met again with the next task. */
const KEPT_SHARE = 0.9;
/** How often it is looked who is too old, ms. */
const LOOK_MS = 3_600_000;

/**
 * Opens the tasks of a named service, for one process at a time. Its folder must be this user's alone: SQLite follows a link
 * that somebody planted, and believes the file beside it.
 *
 * @throws `door.store_unsafe`, `door.store_unreadable`
 */
export function openSqliteStore(folder: string, options: SqliteStoreOptions): TaskStore {
  const path = join(folder, FILE);
  const fault = folderFault(folder) ?? fileFault(path) ?? fileFault(`${path}-wal`);
  if (fault !== undefined) throw new CapsuleError("door.store_unsafe", `Open tasks in ${folder}: found ${fault}`);
  let database: DatabaseSync | undefined;
  try {
    Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
    database = new DatabaseSync(path);
    prepare(database);
    return new SqliteStore(database, options);
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
  database.exec(`BEGIN IMMEDIATE; ${version === 0 ? SCHEMA : ""} ${version < 2 ? CONTEXTS : ""} COMMIT;`);
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
  readonly #enter: StatementSync;
  readonly #options: SqliteStoreOptions;
  /** Tasks that have ended, and their bytes. */
  #ended = 0;
  #endedBytes = 0;
  #lookedMs = 0;

  constructor(database: DatabaseSync, options: SqliteStoreOptions) {
    this.#database = database;
    this.#options = options;
    this.#insert = database.prepare("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#update = database.prepare("UPDATE tasks SET state = ?, updated = ?, task = ? WHERE id = ?");
    this.#find = database.prepare("SELECT principal, origin, task FROM tasks WHERE id = ?");
    this.#first = database.prepare("SELECT principal FROM contexts WHERE id = ?");
    this.#enter = database.prepare("INSERT OR IGNORE INTO contexts VALUES (?, ?)");
    this.#prune();
  }

  insert({ task, principal, origin }: TaskRecord): void {
    const { state, timestamp } = task.status!;
    // First: a context without a task is nobody's loss, a task that was refused and is there is.
    this.#enter.run(task.contextId, principal);
    this.#insert.run(task.id, task.contextId, principal, origin, state, timestamp!, textOf(task));
  }

  update({ task }: TaskRecord): void {
    const { state, timestamp } = task.status!;
    const text = textOf(task);
    const { changes } = this.#update.run(state, timestamp!, text, task.id);
    if (Number(changes) !== 1) throw new Error("Keep a task: it is not there any more");
    if (hasEnded(task)) this.#count(text.length);
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
    const statement = this.#database.prepare(
      `SELECT principal, origin, task FROM tasks WHERE ${where} ${place} ORDER BY updated DESC, id DESC LIMIT ?`,
    );
    const rows = statement.iterate(...values, ...(behind === undefined ? [] : [behind.updated, behind.id]), limit);
    return { records: rows.map((row) => recordOf(row as unknown as Row)), total };
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

  /** One more has ended. */
  #count(bytes: number): void {
    const { keptTasks, keptBytes } = this.#options.limits;
    this.#ended++;
    this.#endedBytes += bytes;
    const isOver = this.#ended > keptTasks || this.#endedBytes > keptBytes;
    if (isOver || this.#options.clock.now() - this.#lookedMs > LOOK_MS) this.#prune();
  }

  /** Lets go what is too old and, when there is too much, the oldest; only of what has ended. */
  #prune(): void {
    const now = this.#options.clock.now();
    this.#lookedMs = now;
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      this.#database.prepare(`DELETE FROM tasks WHERE state IN ${TERMINAL} AND updated < ?`)
        .run(new Date(now - this.#options.limits.keptMs).toISOString());
      this.#measure();
      this.#dropOldest();
      this.#database.exec("DELETE FROM contexts WHERE id NOT IN (SELECT context_id FROM tasks); COMMIT");
    } catch {
      // A full disk keeps the old: the next end tries again.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    }
  }

  #measure(): void {
    const found = this.#database.prepare(
      `SELECT count(*) AS count, coalesce(sum(octet_length(task)), 0) AS bytes FROM tasks WHERE state IN ${TERMINAL}`,
    ).get() as { count: number; bytes: number };
    [this.#ended, this.#endedBytes] = [found.count, found.bytes];
  }

  #dropOldest(): void {
    const { keptTasks, keptBytes } = this.#options.limits;
    if (this.#ended <= keptTasks && this.#endedBytes <= keptBytes) return;
    const oldest = this.#database.prepare(
      `SELECT id, octet_length(task) AS bytes FROM tasks WHERE state IN ${TERMINAL} ORDER BY updated, id`,
    ).all() as unknown as { id: string; bytes: number }[];
    const remove = this.#database.prepare("DELETE FROM tasks WHERE id = ?");
    // The last one stays, however large: its sender has not asked for it yet.
    for (const { id, bytes } of oldest.slice(0, -1)) {
      if (this.#ended <= keptTasks * KEPT_SHARE && this.#endedBytes <= keptBytes * KEPT_SHARE) break;
      remove.run(id);
      this.#ended--;
      this.#endedBytes -= bytes;
    }
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
