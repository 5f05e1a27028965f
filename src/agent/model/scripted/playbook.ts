import { CapsuleError } from "../../../base/mod.ts";

/** A call that a turn of a playbook makes. */
export interface PlaybookCall {
  readonly name: string;
  /** An object; or a text, played as it is, as by a model that writes broken JSON. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** One answer of the model that a playbook plays. */
export interface PlaybookTurn {
  /** Fits only when the newest words of the user or of tools contain this text. */
  readonly when_contains?: string;
  readonly text?: string;
  readonly tool_calls: readonly PlaybookCall[];
  /** Absent: not reported. */
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly delay_ms: number;
}

/** What a scripted model says, in its order. */
export interface Playbook {
  readonly turns: readonly PlaybookTurn[];
}

/** Bounds of a playbook: characters, turns, calls in one of them, milliseconds before an answer, depth of arguments. */
export const PLAYBOOK_LIMITS = {
  ...{ characters: 4 * 1024 * 1024, turns: 10_000, calls: 128, delayMs: 600_000, depth: 64, nameLength: 256 },
} as const;

const KEYS = {
  playbook: ["turns"],
  turn: ["when_contains", "text", "tool_calls", "usage", "delay_ms"],
  call: ["name", "arguments"],
  usage: ["input_tokens", "output_tokens"],
} as const;

/**
 * Reads a playbook, a JSON text `{"turns": […]}`. Unknown keys are refused.
 *
 * @throws `model.rejected` naming the place, and no text of the playbook
 */
export function parsePlaybook(text: string): Playbook {
  if (text.length > PLAYBOOK_LIMITS.characters) {
    throw wrong("playbook", `${text.length} characters`, `at most ${PLAYBOOK_LIMITS.characters}`);
  }
  const root = readObject(parseJson(text), "playbook", KEYS.playbook);
  return {
    turns: readList(root.turns, "turns", PLAYBOOK_LIMITS.turns).map((turn, i) => readTurn(turn, `turns[${i}]`)),
  };
}

function parseJson(text: string): unknown {
  // Before it is parsed: what nests too deep is not to be walked by anything that recurses.
  if (nestsDeeper(text, PLAYBOOK_LIMITS.depth)) {
    throw wrong("playbook", "JSON that nests deeper", `${PLAYBOOK_LIMITS.depth} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw wrong("playbook", "a text that is no JSON", 'an object {"turns": […]}');
  }
}

function readTurn(value: unknown, at: string): PlaybookTurn {
  const turn = readObject(value, at, KEYS.turn);
  const calls = turn.tool_calls === undefined
    ? []
    : readList(turn.tool_calls, `${at}.tool_calls`, PLAYBOOK_LIMITS.calls);
  if (turn.text === undefined && calls.length === 0) throw wrong(at, "neither text nor tool_calls", "one of them");
  return {
    ...(turn.when_contains === undefined ? {} : { when_contains: readText(turn.when_contains, `${at}.when_contains`) }),
    ...(turn.text === undefined ? {} : { text: readText(turn.text, `${at}.text`) }),
    tool_calls: calls.map((call, i) => readCall(call, `${at}.tool_calls[${i}]`)),
    ...(turn.usage === undefined ? {} : { usage: readUsage(turn.usage, `${at}.usage`) }),
    delay_ms: turn.delay_ms === undefined ? 0 : readCount(turn.delay_ms, `${at}.delay_ms`, PLAYBOOK_LIMITS.delayMs),
  };
}

function readCall(value: unknown, at: string): PlaybookCall {
  const call = readObject(value, at, KEYS.call);
  const name = readText(call.name, `${at}.name`);
  const { nameLength } = PLAYBOOK_LIMITS;
  if (name === "" || name.length > nameLength) {
    throw wrong(`${at}.name`, `${name.length} characters`, `1 to ${nameLength}`);
  }
  const written = call.arguments ?? {};
  if (typeof written === "string") return { name, arguments: written };
  if (typeof written !== "object" || Array.isArray(written)) {
    throw wrong(`${at}.arguments`, kindOf(written), "an object or a text");
  }
  return { name, arguments: written as Record<string, unknown> };
}

function readUsage(value: unknown, at: string): { input_tokens: number; output_tokens: number } {
  const usage = readObject(value, at, KEYS.usage);
  const count = (name: typeof KEYS.usage[number]) =>
    readCount(usage[name] ?? 0, `${at}.${name}`, Number.MAX_SAFE_INTEGER);
  return { input_tokens: count("input_tokens"), output_tokens: count("output_tokens") };
}

function readObject<K extends string>(value: unknown, at: string, keys: readonly K[]): { readonly [P in K]?: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(at, kindOf(value), "an object");
  for (const key of Object.keys(value)) {
    if (!keys.some((known) => known === key)) throw wrong(at, "a key that is not known", `only ${keys.join(", ")}`);
  }
  // A copy: what is not there is not found by inheritance.
  return { __proto__: null, ...value } as { readonly [P in K]?: unknown };
}

function readList(value: unknown, at: string, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(at, kindOf(value), "a list");
  if (value.length > max) throw wrong(at, `${value.length} items`, `at most ${max}`);
  return value;
}

function readText(value: unknown, at: string): string {
  if (typeof value !== "string") throw wrong(at, kindOf(value), "a text");
  return value;
}

function readCount(value: unknown, at: string, max: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value > max) {
    throw wrong(at, kindOf(value), `an integer from 0 to ${max === Number.MAX_SAFE_INTEGER ? "2^53-1" : max}`);
  }
  return value;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return `the number ${value}`;
  return { string: "a text", boolean: "a boolean", object: "an object" }[typeof value as string] ?? "something else";
}

/** Whether JSON nests deeper than so many levels, told without parsing it. */
function nestsDeeper(json: string, max: number): boolean {
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const character = json[i];
    if (character === '"') {
      for (i++; i < json.length && json[i] !== '"'; i++) if (json[i] === "\\") i++;
    } else if (character === "{" || character === "[") {
      if (++depth > max) return true;
    } else if (character === "}" || character === "]") depth--;
  }
  return false;
}

function wrong(at: string, found: string, wanted: string): CapsuleError {
  return new CapsuleError("model.rejected", `Read the playbook: found ${found} at ${at}, wanted ${wanted}`);
}
