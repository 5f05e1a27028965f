import { CapsuleError } from "../base/mod.ts";

/** What the transpiler never calls; such a call outside a literal means that a name became code. */
const FOREIGN_CALLS = new Set(["import", "eval", "Function"]);

/**
 * Checks generated code without trusting the escaping of its generator: ASCII, one function at its top, none of
 * {@link FOREIGN_CALLS} outside literals, and the engine parses it as a function's body (nothing runs).
 * @throws component.build_failed
 */
export function checkCode(source: string): void {
  new CodeScan(source).run();
  try {
    new Function(source);
  } catch (error) {
    throw new CapsuleError("component.build_failed", "Check glue: it does not parse", { cause: error });
  }
}

/** One step over code: a word (group 1), a string or comment (group 2), or blanks and marks that open nothing. */
const STEP = new RegExp(
  [
    "([A-Za-z0-9_$#]+)",
    `('(?:[^'\\\\\n\r]|\\\\[^\n\r])*'|"(?:[^"\\\\\n\r]|\\\\[^\n\r])*"|//[^\n]*|/\\*[^]*?\\*/)`,
    "[ \n\r\t(),;:.=<>!&|?+*%~^@[\\]-]+",
  ].join("|"),
  "y",
);
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
/** Behind one of these a slash begins a regular expression; elsewhere it divides. */
const BEFORE_REGEX = /[(,=:[!&|?{};]/;
/** An argument list; a comment counts as one, for what is behind it is not looked at. */
const ARGUMENTS = /[ \n\r\t]*(?:[(`]|\/[/*]|\?\.)/y;

/** A pass over the source that knows strings, comments, templates and regular expressions, and nothing else. */
class CodeScan {
  readonly #source: string;
  readonly #braces: ("block" | "template")[] = [];
  #at = 0;
  /** The last character of code that was no blank. */
  #mark = "";
  #blocksAtTop = 0;

  constructor(source: string) {
    this.#source = source;
  }

  run(): void {
    while (this.#at < this.#source.length) {
      const step = this.#eat(STEP);
      if (step === null) this.#character(this.#source[this.#at]!);
      else this.#step(step[0], step[1], step[2]);
    }
    if (this.#blocksAtTop !== 1) fail(`found ${this.#blocksAtTop} blocks at its top, wanted the function alone`);
  }

  #step(text: string, word: string | undefined, literal: string | undefined): void {
    if (word !== undefined && this.#mark !== "." && FOREIGN_CALLS.has(word) && this.#sees(ARGUMENTS)) {
      fail(`found a call of "${word}" in its code`);
    }
    if (literal?.startsWith("/")) return;
    const solid = text.trimEnd();
    // A spread is no member access.
    this.#mark = solid.endsWith("...") ? "," : solid.at(-1) ?? this.#mark;
  }

  #character(character: string): void {
    if (character === "/") {
      if (!BEFORE_REGEX.test(this.#mark)) this.#at++;
      else if (this.#eat(REGEX) === null) fail("found a regular expression without its end");
    } else {
      this.#at++;
      if (character === "`") this.#template();
      else if (character === "{") this.#braces.push("block");
      else if (character !== "}") fail(`found ${JSON.stringify(character)} in its code`);
      else if (this.#braces.pop() === "template") this.#template();
      else if (this.#braces.length === 0) this.#blocksAtTop++;
    }
    this.#mark = character;
  }

  /** Text of a template up to its end or its next substitution. */
  #template(): void {
    this.#eat(TEMPLATE_TEXT);
    if (this.#source[this.#at] === "`") return void this.#at++;
    if (this.#source[this.#at] !== "$") fail("found a template without its end");
    this.#at += 2;
    this.#braces.push("template");
  }

  #eat(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#source);
  }
}

function fail(found: string): never {
  throw new CapsuleError("component.build_failed", `Check glue: ${found}; the component cannot be run safely`);
}
