import { CapsuleError, printableLine, shellWord } from "../../base/mod.ts";
import {
  checkImports,
  type ComponentRole,
  type MissingImport,
  parseNetFlag,
  resolveFolder,
  type UnboundMount,
} from "../../grants/mod.ts";
import { probeHull } from "../../hull/mod.ts";
import { digestCapsule } from "../../manifest/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { isYes } from "./consent.ts";
import { buildComponent } from "../run/prepare_component.ts";
import {
  type Answers,
  asCommand,
  isAgentRun,
  type Resolved,
  resolveRun,
  type ResolveRunOptions,
} from "../run/resolve_run.ts";
import type { Context } from "../verb.ts";

/** Wrong answers to one question, before it counts as a no. */
const MAX_TRIES = 3;

/** Options of {@link resolveAsking}. */
export interface ResolveAskingOptions extends Pick<ResolveRunOptions, "check"> {
  /** What the component is to be: a command when nothing is said. */
  readonly role?: ComponentRole;
}

/**
 * As {@link resolveRun}; with `--ask`, a person at the terminal is asked before for each mount that nothing binds and for
 * each grant that an import lacks. An empty answer leaves it as it is, and the run is refused as without `--ask`. What
 * was given is said at the end as flags, for the next time.
 *
 * @throws `consent.required` when there is no terminal; what {@link resolveRun} throws
 */
export async function resolveAsking(
  path: string,
  args: Arguments,
  context: Context,
  { role = "command", check }: ResolveAskingOptions = {},
): Promise<Resolved> {
  const checked = check === undefined ? {} : { check };
  if (!args.has("ask")) return await resolveRun(path, args, context, checked);
  const { readAnswer } = context;
  if (readAnswer === undefined) {
    throw new CapsuleError("consent.required", "Read --ask: nobody is there to ask; give --mount, --net or --accept");
  }
  const interview = new Interview(context, readAnswer);
  const listed = await resolveRun(path, args, context, { unbound: "list", ...checked });
  for (const mount of listed.grants.unbound) interview.askForFolder(mount);
  const bound = await resolveRun(path, args, context, { unbound: "list", answers: interview.answers });
  // An agent's tools have their own grants: what they lack is the capsule's to say.
  const missing = isAgentRun(bound)
    ? []
    : checkImports(await importsOf(bound, context), bound.grants.grants, bound.capsule.manifest, role);
  for (const [grant, imports] of Map.groupBy(missing, ({ grant }) => grant)) {
    if (grant === "net" && !args.has("no-net")) interview.askForEntries(imports);
    else if (grant === "clocks" || grant === "random") interview.askForInterface(grant, imports);
  }
  interview.sayFlags();
  return await resolveRun(path, args, context, { answers: interview.answers });
}

/** Reads no guest code: the component is described in a cell of its own, or was before. */
async function importsOf(resolved: Resolved, context: Context): Promise<readonly string[]> {
  const { landlockAbi, seccomp } = probeHull();
  const command = asCommand(resolved);
  const { component } = digestCapsule(command.capsule);
  return (await buildComponent(command, component, landlockAbi > 0 && seccomp, context)).description.imports;
}

/** Questions and what came of them. */
class Interview {
  readonly #context: Context;
  readonly #readAnswer: () => string;
  readonly #flags: string[] = [];
  readonly #mounts: NonNullable<Answers["mounts"]>[number][] = [];
  readonly #net: string[] = [];
  readonly #interfaces: { clocks?: true; random?: true } = {};

  constructor(context: Context, readAnswer: () => string) {
    this.#context = context;
    this.#readAnswer = readAnswer;
  }

  get answers(): Answers {
    return { mounts: this.#mounts, net: this.#net, ...this.#interfaces };
  }

  askForFolder({ guest, mode }: UnboundMount): void {
    const may = mode === "rw" ? "read and change" : "read";
    const question = `It wants to ${may} a folder that it calls ${printableLine(guest)}. Which one? (none) `;
    this.#ask(question, (answer) => {
      const host = resolveFolder(this.#withHome(answer), "the answered");
      this.#mounts.push({ host, guest, mode });
      this.#flags.push(`--mount ${shellWord(`${host}:${guest}:${mode}`)}`);
    });
  }

  askForEntries(imports: readonly MissingImport[]): void {
    const example = imports.some((one) => one.interface.startsWith("wasi:sockets/"))
      ? "tcp://db.example.com:5432"
      : "https://api.example.com";
    const question = `It imports ${named(imports)}. Connections to where, as in ${example}? (none) `;
    this.#ask(question, (answer) => {
      const entries = answer.split(/[\s,]+/).map((entry) => parseNetFlag(entry));
      this.#net.push(...entries);
      this.#flags.push(...entries.map((entry) => `--net ${shellWord(entry)}`));
    });
  }

  askForInterface(grant: "clocks" | "random", imports: readonly MissingImport[]): void {
    this.#context.stderr.write(`It imports ${named(imports)}, and its manifest says "${grant}": false. Allow? [y/N] `);
    if (isYes(this.#readAnswer())) this.#interfaces[grant] = true;
  }

  /** The next time nobody needs to be asked. */
  sayFlags(): void {
    if (this.#flags.length === 0) return;
    this.#context.stderr.write(`The same without questions: ${printableLine(this.#flags.join(" "), 4_000)}\n`);
  }

  /** Asks until an answer is empty, which is a no, or `take` takes it. */
  #ask(question: string, take: (answer: string) => void): void {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      this.#context.stderr.write(question);
      const answer = this.#readAnswer();
      if (answer === "" || answer === "none") return;
      try {
        return take(answer);
      } catch (error) {
        if (!(error instanceof CapsuleError)) throw error;
        this.#context.stderr.write(`${error.message}\n`);
      }
    }
  }

  /** No shell is there to do it. */
  #withHome(path: string): string {
    const home = this.#context.readVariable("HOME");
    return home !== undefined && /^~(\/|$)/.test(path) ? home + path.slice(1) : path;
  }
}

function named(imports: readonly MissingImport[]): string {
  const names = imports.map((one) => one.interface);
  return names.length <= 2 ? names.join(" and ") : `${names[0]} and ${names.length - 1} more`;
}
