import { CapsuleError, closest, type ErrorCode, printableLine } from "../../base/mod.ts";
import type { Option, Verb } from "../verb.ts";

/** What of a {@link Verb} reading its arguments needs. */
export type ArgumentRules = Pick<Verb, "name" | "operands" | "options" | "refused">;

/** The arguments of one call of a verb, checked against its rules. */
export class Arguments {
  /** Operands, at least and at most as many as the verb takes. */
  readonly operands: readonly string[];
  /** Everything behind the operands, verbatim; always empty when the verb passes nothing on. */
  readonly rest: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(operands: readonly string[], rest: readonly string[], values: ReadonlyMap<string, readonly string[]>) {
    this.operands = operands;
    this.rest = rest;
    this.#values = values;
  }

  /** Whether the flag was given. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The value of a flag that is given at most once. */
  value(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** All values of a repeatable flag, in order. */
  values(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}

/** What was read: the arguments, everything wrong with them, and what is honoured even when something is wrong. */
export interface ReadArguments {
  readonly args: Arguments;
  readonly problems: readonly ArgumentProblem[];
  readonly wantsHelp: boolean;
  readonly wantsJson: boolean;
}

/** One mistake on the command line. */
export interface ArgumentProblem {
  readonly code: ErrorCode;
  readonly message: string;
}

const HELP: Option = { name: "help", summary: "Show this help" };

/**
 * Reads the arguments of a verb, strictly: unknown flags, missing or surplus values, repeated single flags and
 * missing or surplus operands are problems, all found at once. `--` ends the flags; `-` is an operand.
 */
export function readArguments(rules: ArgumentRules, argv: readonly string[]): ReadArguments {
  const reader = new Reader(rules);
  let index = 0;
  while (index < argv.length && !reader.isPassingOn) index += reader.take(argv, index);
  return reader.finish(argv.slice(index));
}

/** One error for all problems of a command line: each of them whole, the first one's code. */
export function usageError(verbName: string, problems: readonly ArgumentProblem[]): CapsuleError {
  const hint = `see \`boll ${verbName} --help\``;
  const [first] = problems as [ArgumentProblem];
  if (problems.length === 1) return new CapsuleError(first.code, `${first.message}; ${hint}`);
  const messages = problems.map((problem) => problem.message);
  return new CapsuleError(first.code, `Read arguments: found ${problems.length} problems; ${hint}`, {
    problems: messages,
  });
}

class Reader {
  readonly #rules: ArgumentRules;
  readonly #options: ReadonlyMap<string, Option>;
  readonly #operands: string[] = [];
  readonly #values = new Map<string, string[]>();
  readonly #problems: ArgumentProblem[] = [];
  #flagsEnded = false;

  constructor(rules: ArgumentRules) {
    this.#rules = rules;
    this.#options = new Map([...rules.options, HELP].map((option) => [option.name, option]));
  }

  /** Whether everything from here on belongs to someone else. */
  get isPassingOn(): boolean {
    return this.#rules.operands.rest === true && this.#flagsEnded && this.#operands.length >= this.#rules.operands.max;
  }

  /** Takes the argument at `index`; gives how many were used, 0 when it starts what is passed on. */
  take(argv: readonly string[], index: number): number {
    const argument = argv[index]!;
    if (!this.#flagsEnded && argument === "--") {
      this.#flagsEnded = true;
      return 1;
    }
    if (this.#flagsEnded || argument === "-" || !argument.startsWith("-")) return this.#takeOperand(argument);
    return this.#takeFlag(argument, argv[index + 1]);
  }

  finish(rest: readonly string[]): ReadArguments {
    const { min, max, names, rest: passesOn } = this.#rules.operands;
    const given = this.#operands.length;
    for (const name of names.slice(given, min)) this.#report("usage.missing_argument", `Read ${name}: found none`);
    for (const surplus of this.#operands.slice(max)) {
      const allowed = max === 0 ? "no argument" : names.slice(0, max).join(" ");
      this.#report("usage.unexpected_argument", `Read arguments: found ${quoted(surplus)}, wanted ${allowed}`);
    }
    const args = new Arguments(this.#operands.slice(0, max), passesOn ? rest : [], this.#values);
    return { args, problems: this.#problems, wantsHelp: args.has("help"), wantsJson: args.has("json") };
  }

  #takeOperand(argument: string): number {
    if (this.#rules.operands.rest && this.#operands.length >= this.#rules.operands.max) {
      this.#flagsEnded = true;
      return 0;
    }
    this.#operands.push(argument);
    return 1;
  }

  #takeFlag(argument: string, next: string | undefined): number {
    const equals = argument.indexOf("=");
    const flag = equals === -1 ? argument : argument.slice(0, equals);
    const attached = equals === -1 ? undefined : argument.slice(equals + 1);
    const name = flag === "-h" ? "help" : flag.startsWith("--") ? flag.slice(2) : undefined;
    const option = name === undefined ? undefined : this.#options.get(name);
    if (option === undefined) return this.#refuse(flag, name);
    if (option.value === undefined) {
      if (attached !== undefined) this.#report("usage.bad_value", `Read ${flag}: found a value, wanted none`);
      return this.#keep(option, "", 1);
    }
    const value = attached ?? (next === undefined || (next.startsWith("-") && next !== "-") ? "" : next);
    const used = attached === undefined && value !== "" ? 2 : 1;
    if (value === "") {
      // An empty argument was meant as the value: used up, and refused like none.
      const emptyNext = attached === undefined && next === "";
      this.#report("usage.bad_value", `Read ${flag}: found no value, wanted ${flag}=${option.value}`);
      return emptyNext ? 2 : 1;
    }
    return this.#keep(option, value, used);
  }

  #keep(option: Option, value: string, used: number): number {
    const values = this.#values.get(option.name);
    if (values === undefined) this.#values.set(option.name, [value]);
    else if (option.repeatable) values.push(value);
    else if (option !== HELP) this.#report("usage.bad_value", `Read --${option.name}: found it twice, wanted it once`);
    return used;
  }

  #refuse(flag: string, name: string | undefined): number {
    const reason = name !== undefined && Object.hasOwn(this.#rules.refused ?? {}, name)
      ? this.#rules.refused![name]
      : undefined;
    if (reason !== undefined) this.#report("usage.unknown_flag", `Read ${flag}: ${reason}`);
    else this.#report("usage.unknown_flag", `Read ${quoted(flag)}: no such flag${this.#suggestion(flag, name)}`);
    return 1;
  }

  #suggestion(flag: string, name: string | undefined): string {
    const word = name ?? flag.slice(1);
    const found = this.#options.has(word) ? word : closest(word, this.#options.keys());
    return found === undefined ? "" : `, did you mean --${found}?`;
  }

  #report(code: ErrorCode, message: string): void {
    this.#problems.push({ code, message });
  }
}

function quoted(text: string): string {
  return `"${printableLine(text, 80)}"`;
}
