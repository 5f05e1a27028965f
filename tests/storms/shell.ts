import type { Bed } from "../harness.ts";

/** What a line of bash wrote and how it ended. */
export interface ShellResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line of bash in which `$boll` stands for boll. It is killed after a minute, and then its code is 137. */
export async function runInShell(
  bed: Bed,
  line: string,
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<ShellResult> {
  const child = new Deno.Command("timeout", {
    args: ["--signal=KILL", "60", "bash", "-c", line.replaceAll("$boll", bed.command([]).map(quote).join(" "))],
    cwd: options.cwd ?? bed.root,
    clearEnv: true,
    env: bed.environment(options.env),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** One word as bash reads it. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
