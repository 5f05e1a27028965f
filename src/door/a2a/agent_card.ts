import { createHash } from "node:crypto";
import { AgentCard } from "@a2a-js/sdk";
import { type HttpReply, type HttpRequest, textReply } from "../http/http_message.ts";
import type { DoorCard } from "../options.ts";

/** Where the card is found. */
export const CARD_PATH = "/.well-known/agent-card.json";
/** Where the HTTP+JSON binding begins. */
export const REST_PATH = "/v1";
/** The version of the protocol that is spoken. */
export const PROTOCOL_VERSION = "1.0";

const SCHEME = "boll_token";
const MAX_AGE_SECONDS = 60;
const TEXT = ["text/plain"];

/** What goes into a card. */
export interface CardOptions {
  readonly card: DoorCard;
  /** Ends in `/`. */
  readonly url: string;
  readonly needsToken: boolean;
}

/** The card of a door, A2A 1.0. */
export function agentCard({ card, url, needsToken }: CardOptions): AgentCard {
  const skills = card.skills.length > 0
    ? card.skills
    : [{ id: card.name, name: card.name, description: card.description, tags: [] }];
  const place = { protocolVersion: PROTOCOL_VERSION, tenant: "" };
  return {
    name: card.name,
    description: card.description,
    version: card.version,
    supportedInterfaces: [
      { ...place, url, protocolBinding: "JSONRPC" },
      { ...place, url: new URL(REST_PATH.slice(1), url).href, protocolBinding: "HTTP+JSON" },
    ],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: needsToken ? { [SCHEME]: bearer() } : {},
    securityRequirements: needsToken ? [{ schemes: { [SCHEME]: { list: [] } } }] : [],
    defaultInputModes: [...card.inputModes ?? TEXT],
    defaultOutputModes: [...card.outputModes ?? TEXT],
    skills: skills.map((skill) => ({
      ...skill,
      tags: [...skill.tags],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    })),
    signatures: [],
  };
}

function bearer(): AgentCard["securitySchemes"][string] {
  const value = { scheme: "Bearer", description: "What boll token prints", bearerFormat: "" };
  return { scheme: { $case: "httpAuthSecurityScheme", value } };
}

/** The card as it is asked for: once a minute, and not again while it is the same as `sinceMs`. */
export function cardReply(card: AgentCard, request: HttpRequest, sinceMs: number): HttpReply {
  const text = JSON.stringify(withTags(AgentCard.toJSON(card) as Record<string, unknown>));
  const tag = `"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"`;
  const fields = [
    ["etag", tag],
    ["cache-control", `public, max-age=${MAX_AGE_SECONDS}`],
    ["last-modified", new Date(sinceMs).toUTCString()],
  ] as const;
  if (request.header("if-none-match") === tag) return { status: 304, fields, body: new Uint8Array(0) };
  return textReply(200, text, "application/json", fields);
}

/** Lists that a card must have are left out by the codec when they are empty. */
function withTags(card: Record<string, unknown>): unknown {
  const skills = (card.skills as Record<string, unknown>[]).map((skill) => ({ tags: [], ...skill }));
  return { ...card, skills };
}
