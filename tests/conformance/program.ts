/** A program of the suite and what is wanted of it. */
export interface Program {
  readonly path: string;
  /** A name of `dirs` among them is given as the guest sees that folder. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders beside the program. */
  readonly dirs: readonly string[];
  readonly exitCode: number;
  /** Why it cannot be run here. */
  readonly unfit?: string;
  /** Wanted as it is; undefined when anything may be written. */
  readonly stdout?: string;
  readonly stderr?: string;
}

/** The program at `path`, with the description `NAME.json` beside it when there is one. @throws SyntaxError */
export function readProgram(path: string): Program {
  const { args = [], env = {}, dirs = [], exit_code = 0, stdout, stderr, root, operations } = readDescription(path);
  const unfit = root !== undefined
    ? "root: it wants a folder as /, which no capsule has"
    : operations !== undefined
    ? "operations: its steps are not known here"
    : undefined;
  return {
    path,
    args: args.map((word) => dirs.includes(word) ? `/${word}` : word),
    env,
    dirs,
    exitCode: exit_code,
    ...(unfit === undefined ? {} : { unfit }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
  };
}

/** What is not as wanted, one line each; none when all is. */
export function judge(program: Program, found: { code: number; stdout: string; stderr: string }): string[] {
  const lines: string[] = [];
  if (found.code !== program.exitCode) lines.push(`exit code: found ${found.code}, wanted ${program.exitCode}`);
  for (const stream of ["stdout", "stderr"] as const) {
    const wanted = program[stream];
    if (wanted !== undefined && wanted !== found[stream]) {
      lines.push(`${stream}: found ${JSON.stringify(found[stream])}, wanted ${JSON.stringify(wanted)}`);
    }
  }
  return lines.length === 0 ? [] : [...lines, ...found.stderr.trimEnd().split("\n").slice(0, 6)];
}

interface Description {
  args?: string[];
  env?: Record<string, string>;
  dirs?: string[];
  exit_code?: number;
  root?: unknown;
  operations?: unknown;
  stdout?: string;
  stderr?: string;
}

function readDescription(path: string): Description {
  try {
    return JSON.parse(Deno.readTextFileSync(path.replace(/\.wasm$/, ".json")));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}
