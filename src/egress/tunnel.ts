import { type Wire, type WireReader, writeWhole } from "../http1/mod.ts";
import type { Dialed } from "./dialer.ts";
import type { Exchange } from "./exchange.ts";
import { Refusal } from "./refusal.ts";

/**
 * Passes bytes both ways until both have ended, each end on its own. One buffer of at most 64 KiB per way: what is read
 * is written before more is read, so a slow reader slows its writer.
 */
export async function runTunnel(exchange: Exchange, client: Wire, reader: WireReader, origin: Dialed): Promise<void> {
  const up = pump(exchange, "up", reader, origin.wire);
  const down = pump(exchange, "down", origin.reader, client);
  await Promise.all([up, down]);
  exchange.end();
}

async function pump(exchange: Exchange, way: "up" | "down", from: WireReader, to: Wire): Promise<void> {
  try {
    for (let bytes = await from.next(); bytes !== undefined; bytes = await from.next()) {
      exchange.count(way, bytes.length);
      await writeWhole(to, bytes);
      exchange.touch();
    }
    await to.closeWrite();
  } catch (error) {
    exchange.end(error instanceof Refusal ? error.error : "connection-terminated");
  }
}
