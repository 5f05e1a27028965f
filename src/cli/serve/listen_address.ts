import { CapsuleError, printableLine } from "../../base/mod.ts";

/** Where a service listens; port 0 is any that is free. */
export interface ListenAddress {
  readonly hostname: string;
  readonly port: number;
}

/** Where it listens when nothing is typed: this machine alone can reach it. */
export const DEFAULT_LISTEN: ListenAddress = { hostname: "127.0.0.1", port: 8080 };

/**
 * Reads the value of `--listen`: `PORT`, `:PORT`, `HOST:PORT`, `[V6]:PORT`, or a host alone with the default port.
 * Without a host it is loopback: others are listened on only where they were typed.
 * @throws `usage.bad_value`
 */
export function parseListen(text: string): ListenAddress {
  const [, host, portAfterHost, portAlone] =
    /^(?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*[A-Za-z.][A-Za-z0-9.-]*)(?::(\d{1,5}))?|:?(\d{1,5}))$/.exec(text) ?? [];
  const port = Number(portAfterHost ?? portAlone ?? DEFAULT_LISTEN.port);
  if ((host === undefined && portAlone === undefined) || port > 65_535) {
    const found = printableLine(text, 80);
    throw new CapsuleError("usage.bad_value", `Read --listen: found "${found}", wanted PORT, HOST:PORT or [V6]:PORT`);
  }
  return { hostname: host?.replace(/^\[|\]$/g, "") ?? DEFAULT_LISTEN.hostname, port };
}

/** The address as a URL. */
export function formatListen({ hostname, port }: ListenAddress): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
