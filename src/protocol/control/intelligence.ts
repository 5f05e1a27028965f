import { Fields, pairItem } from "../fields.ts";
import { LINE, NAME, TEXT } from "./text_bounds.ts";

/** Name and value of one header. */
export type Header = readonly [name: string, value: string];

/** The languages a model endpoint may speak. */
export const DIALECTS = ["openai", "anthropic", "scripted"] as const;
export type Dialect = typeof DIALECTS[number];

/** Where the model is, and what opens it. Holds a credential: never to be logged or recorded. */
export interface Intelligence {
  /** A comma list: failover order; of the dialect `scripted` one `data:` URL with the playbook. */
  readonly uri: string;
  readonly token?: string;
  /** The variable that `token` came from: what messages name in its place. */
  readonly credential?: string;
  readonly model?: string;
  readonly headers: readonly Header[];
  /** Absent is `openai`. */
  readonly dialect?: Dialect;
}

/** A server or peer that a session may call, by its name. Holds a credential. */
export interface Remote {
  readonly name: string;
  readonly url: string;
  readonly token?: string;
  readonly headers: readonly Header[];
}

/** @throws `protocol.bad_field` */
export function decodeIntelligence(fields: Fields): Intelligence {
  return {
    uri: fields.string("uri", TEXT),
    ...fields.optional("token", (name) => fields.string(name)),
    ...fields.optional("credential", (name) => fields.string(name, NAME)),
    ...fields.optional("model", (name) => fields.string(name, NAME)),
    headers: decodeHeaders(fields),
    ...fields.optional("dialect", (name) => fields.oneOf(name, DIALECTS)),
  };
}

/** One item of a list of servers or peers. @throws `protocol.bad_field` */
export function remoteItem(item: unknown, path: string): Remote {
  const fields = new Fields(item, path);
  return {
    name: fields.string("name", NAME),
    url: fields.string("url", LINE),
    ...fields.optional("token", (name) => fields.string(name)),
    headers: decodeHeaders(fields),
  };
}

/** `headers`, default none. @throws `protocol.bad_field` */
export function decodeHeaders(fields: Fields): readonly Header[] {
  return fields.orElse("headers", [], (name) => fields.list<Header>(name, pairItem, { max: 256 }));
}
