import { boundedHead } from "../../base/mod.ts";
import type { NoticeRequest } from "./notice.ts";
import { postOnce } from "./post_once.ts";

/** Whether a notice reached the parent's door, and why not. */
export type Delivery = { readonly delivered: true } | { readonly delivered: false; readonly error: string };

/** Options of {@link postNotice}. */
export interface PostNoticeOptions {
  /** For all of it: connecting, sending, the whole reply. Default 10 000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const REFUSED = "the parent refused the completion";

/** Posts a notice once and follows no redirect. Never throws: whatever goes wrong is the reason why it was not delivered. */
export async function postNotice(
  url: string,
  { id, headers, body }: NoticeRequest,
  { timeoutMs = TIMEOUT_MS }: PostNoticeOptions = {},
): Promise<Delivery> {
  const address = URL.parse(url);
  if (address?.protocol !== "http:") return failed("the parent's address is no http address");
  const reply = await postOnce(address, { headers, body }, timeoutMs);
  if (reply.kind === "failed") return failed(reply.reason);
  if (reply.status !== 200) return failed(`the parent answered with HTTP status ${reply.status}`);
  try {
    return judgeReply(JSON.parse(new TextDecoder().decode(reply.body)), id);
  } catch {
    return failed("the parent's reply is no JSON");
  }
}

/** An error in a 200 is not delivered, and the door's own words are the reason. */
function judgeReply(reply: unknown, id: string): Delivery {
  if (typeof reply !== "object" || reply === null) return failed("the parent's reply is no JSON-RPC");
  const { error, result, id: answered } = reply as Readonly<Record<string, unknown>>;
  if (error !== undefined && error !== null) return failed(messageOf(error));
  if (result === undefined || answered !== id) return failed("the parent's reply is no answer to the notice");
  return { delivered: true };
}

function messageOf(error: unknown): string {
  const message = typeof error === "object" ? (error as { message?: unknown }).message : undefined;
  return typeof message === "string" && message.trim() !== "" ? message : REFUSED;
}

function failed(error: string): Delivery {
  return { delivered: false, error: boundedHead(error) };
}
