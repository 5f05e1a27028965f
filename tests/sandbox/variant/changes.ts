/**
 * What differs between the product and the executable of the escape tests: places in the source where a wall is raised,
 * each replaced while bundling by one that asks first whether the wall is to stand. A place that is not found exactly
 * once fails the build, so that no wall moves away from its test unseen.
 * @module
 */
import type { Plugin } from "esbuild";
import { join } from "@std/path";

interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const ALL_PERMISSIONS = "{ read: true, write: true, net: true, env: true, run: true, ffi: true, sys: true }";

const CHANGES: readonly Change[] = [
  // Wall 1: the guest's first argument may be JavaScript for the guest's thread, and links are made as asked.
  {
    file: "src/guest/run_guest.ts",
    find: "export async function runGuest(load: RunLoad, loaded: LoadedComponent, ports: GuestPorts)",
    replace: `import { isInjected, runInjected } from "../../tests/sandbox/variant/injected.ts";
      export function runGuest(load, loaded, ports) {
        return isInjected(load) ? runInjected(load, ports) : runLinked(load, loaded, ports);
      }
      async function runLinked(load: RunLoad, loaded: LoadedComponent, ports: GuestPorts)`,
  },
  {
    file: "src/wasi/files/symlink_inside.ts",
    find: "export function symlinkInside(preopens: readonly Preopen[], place: SymlinkPlace): void {",
    replace: `import { stands } from "../../../tests/sandbox/variant/standing_walls.ts";
      export function symlinkInside(preopens: readonly Preopen[], place: SymlinkPlace): void {
        if (!stands(1)) return Deno.symlinkSync(place.target, preopens[place.preopen].host + "/" + place.path);`,
  },
  {
    file: "src/wasi/net/net_check.ts",
    find: "allows(target: NetTarget): boolean {",
    replace: "allows(target: NetTarget): boolean { if (!stands(1)) return true;",
  },
  {
    file: "src/wasi/net/net_check.ts",
    find: "const MAX_DENIALS =",
    replace: `import { stands } from "../../../tests/sandbox/variant/standing_walls.ts"; const MAX_DENIALS =`,
  },
  // Wall 2: the thread has what the executable has, and the main thread keeps it too.
  {
    file: "src/guest/guest_worker.ts",
    find: "permissions: workerPermissions(permissions) }",
    replace: `permissions: stands(2) ? workerPermissions(permissions) : ${ALL_PERMISSIONS} }`,
  },
  {
    file: "src/guest/guest_worker.ts",
    find: "const ENTRY =",
    replace: `import { stands } from "../../tests/sandbox/variant/standing_walls.ts"; const ENTRY =`,
  },
  {
    file: "src/guest/confine_cell.ts",
    find: "export function revokeUnneeded(load: GuestLoad): void {",
    replace: `import { stands } from "../../tests/sandbox/variant/standing_walls.ts";
      export function revokeUnneeded(load: GuestLoad): void { if (!stands(2)) return;`,
  },
  // Wall 3: the cell gets the caller's environment and descriptors, no limits, and outlives its parent.
  {
    file: "src/session/self_command.ts",
    find: "args: [], env: {} }",
    replace: "args: STANDING_ARGUMENTS, env: {} }",
  },
  {
    file: "src/session/self_command.ts",
    find: "PATH: CHILD_PATH,",
    replace: "...(stands(3) ? {} : Deno.env.toObject()), PATH: CHILD_PATH,",
  },
  {
    file: "src/session/self_command.ts",
    find: "const CHILD_PATH =",
    replace:
      `import { STANDING_ARGUMENTS, stands } from "../../tests/sandbox/variant/standing_walls.ts"; const CHILD_PATH =`,
  },
  {
    file: "src/hull/process_hull.ts",
    find: "dieWithParent(expectedParentPid: number): void {",
    replace: "dieWithParent(expectedParentPid: number): void { if (!stands(3)) return;",
  },
  {
    file: "src/hull/process_hull.ts",
    find: "closeDescriptorsOnExec(from = 3): void {",
    replace: "closeDescriptorsOnExec(from = 3): void { if (!stands(3)) return;",
  },
  {
    file: "src/hull/process_hull.ts",
    find: "limit(limits: ProcessLimits): void {",
    replace: "limit(limits: ProcessLimits): void { if (!stands(3)) return;",
  },
  // The gate: it lets everybody in, and connects to whatever is asked.
  {
    file: "src/egress/serve.ts",
    find: "function isAuthorized({ fields }: Head, wanted: string): boolean {",
    replace: `import { stands } from "../../tests/sandbox/variant/standing_walls.ts";
      function isAuthorized({ fields }: Head, wanted: string): boolean { if (!stands("g")) return true;`,
  },
  {
    file: "src/egress/dialer.ts",
    find: 'match(scheme: Destination["scheme"] | undefined, { host, port }: Authority): Destination {',
    replace: `match(scheme: Destination["scheme"] | undefined, { host, port }: Authority): Destination {
      if (!stands("g")) return { scheme: scheme ?? "tcp", host, port, entry: this.#options.entries[0]! };`,
  },
  {
    file: "src/egress/dialer.ts",
    find: "return addresses.filter((text) => {",
    replace: `return addresses.filter((text) => { if (!stands("g")) return true;`,
  },
  {
    file: "src/egress/dialer.ts",
    find: "const DEFAULT_PORTS =",
    replace: `import { stands } from "../../tests/sandbox/variant/standing_walls.ts"; const DEFAULT_PORTS =`,
  },
  {
    file: "src/egress/gate.ts",
    find: "#targetsOf(host: string) {",
    replace: `#targetsOf(host: string) {
      if (!stands("g")) return [{ scheme: "tcp" as const, host, port: 1, entry: this.#options.entries[0]! }];`,
  },
  {
    file: "src/egress/gate.ts",
    find: "const ACCEPT_PAUSE_MS =",
    replace: `import { stands } from "../../tests/sandbox/variant/standing_walls.ts"; const ACCEPT_PAUSE_MS =`,
  },
  // A session reads what its task says as soon as its first layer stands: a thread that was made before is idle then.
  {
    file: "src/session/control/live_session.ts",
    find: "channel.readInBackground();",
    replace: `if (isAttack(payload)) log.write("info", "attack", { found: await attackFolders(payload) });
      channel.readInBackground();`,
  },
  {
    file: "src/session/control/live_session.ts",
    find: "const FLUSH_MS =",
    replace:
      `import { attackFolders, isAttack } from "../../../tests/sandbox/variant/attacking_session.ts"; const FLUSH_MS =`,
  },
  // A loop's thread does what its model's name says, with what the executable has where wall 2 does not stand.
  {
    file: "src/agent/thread/loop_worker.ts",
    find: "deno: { permissions: workerPermissions({ net }) }",
    replace: `deno: { permissions: stands(2) ? workerPermissions({ net }) : ${ALL_PERMISSIONS} }`,
  },
  {
    file: "src/agent/thread/loop_worker.ts",
    find: "const LAST_WORD_MS =",
    replace: `import { stands } from "../../../tests/sandbox/variant/standing_walls.ts"; const LAST_WORD_MS =`,
  },
  {
    file: "src/agent/thread/loop_thread.ts",
    find: "async open(opened: OpenModel): Promise<void> {",
    replace: "async open(opened: OpenModel): Promise<void> { await attackFromLoop(opened.intelligence);",
  },
  {
    file: "src/agent/thread/loop_thread.ts",
    find: "const GATHER_MS =",
    replace: `import { attackFromLoop } from "../../../tests/sandbox/variant/attacking_loop.ts"; const GATHER_MS =`,
  },
  // Wall 4: nothing is raised, in the supervisor or in the cell, and they believe it was.
  {
    file: "src/hull/process_hull.ts",
    find: "confine(rules: HullRules): HullReport {",
    replace: `confine(rules: HullRules): HullReport {
      if (!stands(4) && !stands(rules.seccomp ? "c" : "s")) return { landlock: "on", seccomp: "on", abi: 0, durationMs: 0 };`,
  },
  {
    file: "src/hull/process_hull.ts",
    find: "const PR_SET_NO_NEW_PRIVS",
    replace: `import { stands } from "../../tests/sandbox/variant/standing_walls.ts"; const PR_SET_NO_NEW_PRIVS`,
  },
];

/** Makes the changes in the checkout at `root`. White space in what is sought stands for any white space. */
export function changeWalls(root: string): Plugin {
  return {
    name: "change-walls",
    setup(setup) {
      for (const file of new Set(CHANGES.map((change) => change.file))) {
        const path = join(root, file);
        setup.onLoad({ filter: new RegExp(`^${literal(path)}$`) }, () => ({
          contents: changeText(file, Deno.readTextFileSync(path)),
          loader: "ts",
        }));
      }
    },
  };
}

function changeText(file: string, text: string): string {
  for (const { find, replace } of CHANGES.filter((change) => change.file === file)) {
    const places = text.split(new RegExp(literal(find).replace(/ /g, ",?\\s+")));
    if (places.length !== 2) {
      throw new Error(`Change ${file} for the escape tests: found ${places.length - 1} places of ${find}, wanted one`);
    }
    text = places.join(replace);
  }
  return text;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
