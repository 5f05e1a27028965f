import { InputStream } from "./input_stream.ts";
import { IoError } from "./io_error.ts";
import { OutputStream } from "./output_stream.ts";
import { Pollable, type Readiness } from "./pollable.ts";
import type { ByteSource } from "./ports.ts";

/** `wasi:io/*`. */
export function ioImports(): Record<string, Record<string, unknown>> {
  return {
    "wasi:io/error": { Error: IoError },
    "wasi:io/poll": { Pollable, poll: (list: readonly Pollable[]) => Pollable.poll(list) },
    "wasi:io/streams": { InputStream, OutputStream },
  };
}

/**
 * What a pollable of stdin waits for. However often a guest polls while nothing comes, one promise of the port is
 * watched.
 */
export function sourceReadiness(source: ByteSource): Readiness {
  const watchers = new Set<() => void>();
  let isWaiting = false;
  return {
    ready: () => source.ready(),
    watch(wake) {
      watchers.add(wake);
      if (!isWaiting) {
        isWaiting = true;
        source.wait().then(() => {
          isWaiting = false;
          for (const watcher of [...watchers]) watcher();
        });
      }
      return () => watchers.delete(wake);
    },
    ...(source.blockUntilReady === undefined ? {} : { blockSync: () => source.blockUntilReady!() }),
  };
}
