import { printableLine } from "../../../base/mod.ts";

/** What may become better when it is tried again: nobody answered, or what came was no answer. */
export type FailureKind = "down" | "unreadable";

/**
 * One attempt at an endpoint that failed. Its message is ours alone: what a library or a server said may hold the
 * request, and with it the credential.
 */
export class AttemptFailure extends Error {
  override readonly name = "AttemptFailure";
  readonly kind: FailureKind;
  /** The rest that the endpoint asked for, milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** In the text of a failed connection → what is said of it. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/dns error|failed to lookup/i, "its name cannot be resolved"],
  [/connection refused/i, "it refused the connection"],
  [/certificate|unknownissuer/i, "its certificate is not trusted"],
  [/corrupt message|tls|handshake/i, "it does not speak TLS as it should"],
  [/timed out/i, "the connection timed out"],
  [/unreachable/i, "there is no way to it"],
  [/proxy|tunnel/i, "the proxy did not let it through"],
  [/requires net access/i, "this process may not reach it"],
  [/reset|closed|broken pipe|incomplete|reading a body|unexpected eof|end of file/i, "the connection broke off"],
];

/** What is said of a failed connection; nothing of the error's own text, which names the whole URL. */
export function describeNetworkError(error: unknown): string {
  const text = error instanceof Error ? error.message.replace(/for url \([^)]*\)/, "") : "";
  return REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? "the connection failed";
}

const WINDOW = 8;

/** What a server said, safe to be shown: on one line, cut, and left out when it repeats any of a secret. */
export function quoteServer(text: string, secrets: readonly string[]): string {
  if (text.trim() === "") return "";
  if (secrets.some((secret) => repeats(text, secret))) return " (its words are left out: they repeat a credential)";
  return ` (it says: ${printableLine(text.replace(/\s+/g, " ").trim(), 300)})`;
}

/** Whether the text holds the secret, or so many characters of it in a row that they are no chance. */
function repeats(text: string, secret: string): boolean {
  if (secret.length <= WINDOW) return secret.length > 3 && text.includes(secret);
  for (let i = 0; i + WINDOW <= secret.length; i++) if (text.includes(secret.slice(i, i + WINDOW))) return true;
  return false;
}
