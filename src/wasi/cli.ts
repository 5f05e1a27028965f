import { GuestExit } from "./endings.ts";
import type { WasiOptions } from "./host.ts";
import { HOSTED } from "./hosted.ts";
import { InputStream, type StreamSource } from "./input_stream.ts";
import { OutputStream, type StreamSink } from "./output_stream.ts";

/** `terminal-input`: a terminal is told by its existence. */
class TerminalInput {}
/** `terminal-output`. */
class TerminalOutput {}

/** The three streams of a run, each call of `get-…` gives a new resource over the same one. */
export interface Stdio {
  readonly stdin: StreamSource;
  readonly stdout: StreamSink;
  readonly stderr: StreamSink;
}

/** `wasi:cli/*` but `run`. */
export function cliImports(options: WasiOptions, stdio: Stdio): Record<string, Record<string, unknown>> {
  const { terminal } = options;
  return {
    "wasi:cli/environment": {
      getEnvironment: () => options.env.map(([name, value]) => [name, value]),
      getArguments: () => [...options.args],
      initialCwd: () => options.cwd,
    },
    "wasi:cli/exit": {
      exit(status: { readonly tag: string }): never {
        throw new GuestExit(status.tag === "ok" ? 0 : 1);
      },
      exitWithCode(code: number): never {
        throw new GuestExit(code & 0xff);
      },
    },
    "wasi:cli/stdin": { getStdin: () => new InputStream(HOSTED, stdio.stdin) },
    "wasi:cli/stdout": { getStdout: () => new OutputStream(HOSTED, stdio.stdout) },
    "wasi:cli/stderr": { getStderr: () => new OutputStream(HOSTED, stdio.stderr) },
    "wasi:cli/terminal-input": { TerminalInput },
    "wasi:cli/terminal-output": { TerminalOutput },
    "wasi:cli/terminal-stdin": { getTerminalStdin: () => terminal.stdin ? new TerminalInput() : undefined },
    "wasi:cli/terminal-stdout": { getTerminalStdout: () => terminal.stdout ? new TerminalOutput() : undefined },
    "wasi:cli/terminal-stderr": { getTerminalStderr: () => terminal.stderr ? new TerminalOutput() : undefined },
  };
}
