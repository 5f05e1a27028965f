import { CapsuleError, isId, printableLine } from "../../base/mod.ts";
import type { Home } from "../folders/home.ts";
import { type SessionPaths, sessionPaths } from "../places.ts";

const MAX_CANDIDATES = 5;
const MIN_PREFIX_LENGTH = 4;

/** Ids of all sessions of a home, oldest first. Whatever else lies in the folder is no session. */
export function listSessions(home: Pick<Home, "sessions">): string[] {
  const ids: string[] = [];
  for (const entry of Deno.readDirSync(home.sessions)) {
    if (entry.isDirectory && isId(entry.name, "ses")) ids.push(entry.name);
  }
  return ids.sort();
}

/**
 * Finds one session by its id, by a prefix of it that only one session has (with or without `ses_`, 4 characters or
 * more), or by the word `last`.
 * @throws `records.not_found` when none or several match
 */
export function findSession(home: Pick<Home, "sessions">, wanted: string): SessionPaths {
  const ids = listSessions(home);
  if (wanted === "last") {
    const newest = ids.at(-1);
    if (newest !== undefined) return sessionPaths(home, newest);
    throw new CapsuleError(
      "records.not_found",
      `Find session: none exists yet in ${home.sessions}; start one with \`boll run\``,
    );
  }
  const found = matches(ids, wanted);
  if (found.length === 1) return sessionPaths(home, found[0]!);
  const shown = printableLine(wanted, 64);
  if (found.length === 0) {
    const hint = "give an id, a prefix of one (4 characters or more), or last";
    throw new CapsuleError(
      "records.not_found",
      `Find session: no session is named "${shown}" in ${home.sessions}; ${hint}`,
    );
  }
  const more = found.length > MAX_CANDIDATES ? `, and ${found.length - MAX_CANDIDATES} more` : "";
  const list = found.slice(-MAX_CANDIDATES).join(", ");
  throw new CapsuleError(
    "records.not_found",
    `Find session: "${shown}" names ${found.length} sessions: ${list}${more}; give more of the id`,
  );
}

function matches(ids: readonly string[], wanted: string): string[] {
  const prefix = wanted.startsWith("ses_") ? wanted : `ses_${wanted}`;
  if (prefix.length < "ses_".length + MIN_PREFIX_LENGTH) return [];
  return ids.filter((id) => id.startsWith(prefix));
}
