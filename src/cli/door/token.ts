import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import { type Home, openHome } from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { findLocalDoor, type LocalDoor, runningDoors } from "./find_door.ts";
import type { Context, Verb } from "../verb.ts";

const ACTIONS = ["add", "revoke"] as const;
type Action = typeof ACTIONS[number];

/** `boll token`: what opens a door, for its owner and for others. */
export const verb: Verb = {
  name: "token",
  summary: "Print, give and revoke tokens of a door",
  usage: "token [NAME|SESSION] [add PEER | revoke PEER]",
  operands: { min: 0, max: 3, names: ["NAME|SESSION", "add|revoke", "PEER"] },
  options: [{ name: "json", summary: "Print one JSON object" }],
  notes: [
    "Without more it prints the owner's token. `add` makes one for a peer, prints",
    "it once and keeps its hash; `revoke` makes it worth nothing within a second.",
    "NAME is that of `boll serve --name`; without one it is the only open door.",
    "",
    "  boll token summaries add editor",
  ],
  run: (args, context) => Promise.resolve(runVerb(args, context)),
};

/** What is asked for. */
interface Request {
  readonly door?: string;
  readonly action?: Action;
  readonly peer?: string;
}

function runVerb(args: Arguments, context: Context): number {
  const { door: wanted, action, peer = "" } = readRequest(args.operands);
  const home = openHome(context.readVariable);
  const door = wanted === undefined ? onlyDoor(home) : findLocalDoor(home, wanted);
  const say = (fields: Record<string, unknown>, line: string) =>
    context.stdout.write(`${args.has("json") ? printableJson({ door: door.name, ...fields }) : line}\n`);
  if (action === "revoke") {
    if (!door.folder.revokePeer(peer)) {
      const known = door.folder.peers().map(({ name }) => name).slice(0, 10).join(", ");
      const hint = known === "" ? "it has no peers" : `its peers are ${known}`;
      throw new CapsuleError("usage.bad_value", `Revoke a token: ${printableLine(peer, 80)} has none; ${hint}`);
    }
    say({ revoked: peer }, `revoked ${printableLine(peer, 80)}`);
    return 0;
  }
  const token = action === "add" ? door.folder.addPeer(peer) : ownersToken(door);
  say({ ...(action === "add" ? { peer } : {}), token }, token);
  return 0;
}

function ownersToken({ folder, name }: LocalDoor): string {
  const token = folder.readToken();
  if (token !== undefined) return token;
  const why = "it has ended, or was never open";
  throw new CapsuleError("service.not_found", `Print a token: ${printableLine(name, 80)} has none: ${why}`);
}

/** @throws `usage.missing_argument`, `usage.unexpected_argument` */
function readRequest(operands: readonly string[]): Request {
  const at = isAction(operands[0]) ? 0 : 1;
  const [action, peer] = [operands[at], operands[at + 1]];
  const door = at === 1 && operands[0] !== undefined ? { door: operands[0] } : {};
  if (action === undefined) return door;
  if (!isAction(action) || operands.length > at + 2) {
    const found = printableLine(isAction(action) ? operands.at(-1)! : action, 80);
    throw new CapsuleError(
      "usage.unexpected_argument",
      `Read arguments: found "${found}", wanted add PEER or revoke PEER; see \`boll token --help\``,
    );
  }
  if (peer === undefined) {
    throw new CapsuleError("usage.missing_argument", `Read PEER: found none, wanted boll token ${action} PEER`);
  }
  return { ...door, action, peer };
}

function isAction(word: string | undefined): word is Action {
  return (ACTIONS as readonly (string | undefined)[]).includes(word);
}

/** @throws `service.not_found` */
export function onlyDoor(home: Home): LocalDoor {
  const doors = runningDoors(home);
  const [only] = doors;
  if (only !== undefined && doors.length === 1) return only;
  const names = doors.slice(0, 5).map(({ name }) => name).join(", ");
  const found = only === undefined ? "none is open" : `${doors.length} are open: ${names}; name one`;
  throw new CapsuleError("service.not_found", `Find a door: ${found}`);
}
