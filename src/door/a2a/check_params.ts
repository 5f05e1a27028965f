import { RequestMalformedError } from "@a2a-js/sdk/errors";

/** What is wrong with a value: the path to it, and what was wanted there; undefined when nothing is. */
type Check = (value: unknown, path: string) => string | undefined;

const MAX_ID = 256;
const MAX_PARTS = 1_024;
const MAX_PAGE = 100;
const STATES = [
  ...["UNSPECIFIED", "SUBMITTED", "WORKING", "COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED", "REJECTED"],
  "AUTH_REQUIRED",
].map((name) => `TASK_STATE_${name}`);

const text: Check = (value, path) => typeof value === "string" ? undefined : `${path}: wanted a string`;
const flag: Check = (value, path) => typeof value === "boolean" ? undefined : `${path}: wanted true or false`;
const plain: Check = (value, path) => isObject(value) ? undefined : `${path}: wanted an object`;
const date: Check = (value, path) =>
  typeof value === "string" && !Number.isNaN(Date.parse(value)) ? undefined : `${path}: wanted a time of ISO 8601`;
const base64: Check = (value, path) =>
  typeof value === "string" && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value) ? undefined : `${path}: wanted base64`;
const state: Check = (value, path) =>
  STATES.includes(value as string) || (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 8)
    ? undefined
    : `${path}: wanted a state as TASK_STATE_WORKING`;
const role: Check = (value, path) =>
  value === "ROLE_USER" || value === 1 ? undefined : `${path}: wanted ROLE_USER, who sends to an agent`;
const id: Check = (value, path) =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_ID
    ? undefined
    : `${path}: wanted a string of 1 to ${MAX_ID} characters`;
const maybeId: Check = (value, path) => value === "" ? undefined : id(value, path);

function whole(least: number, most: number): Check {
  return (value, path) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `${path}: wanted a whole number from ${least} to ${most}`;
}

const count = whole(0, 2 ** 31 - 1);

function listOf(check: Check, most: number, least = 0): Check {
  return (value, path) => {
    if (!Array.isArray(value) || value.length < least || value.length > most) {
      return `${path}: wanted a list of ${least} to ${most}`;
    }
    return first(value, (item, at) => check(item, `${path}[${at}]`));
  };
}

/** Fields by name; those with `!` must be there. Others are left alone, as the protocol says. */
function fields(checks: Readonly<Record<string, Check>>, also?: Check): Check {
  return (value, path) => {
    if (!isObject(value)) return `${path || "params"}: wanted an object`;
    const wrong = first(Object.entries(checks), ([key, check]) => {
      const name = key.replace("!", "");
      const found = fieldOf(value, name);
      const inner = path === "" ? name : `${path}.${name}`;
      if (found === undefined || found === null) return key === name ? undefined : `${inner}: wanted, and not there`;
      return check(found, inner);
    });
    return wrong ?? also?.(value, path);
  };
}

const oneContent: Check = (value, path) => {
  const kinds = ["text", "raw", "url", "data"].filter((kind) => (value as Record<string, unknown>)[kind] !== undefined);
  return kinds.length === 1 ? undefined : `${path}: wanted exactly one of text, raw, url, data`;
};

const part = fields({ text, raw: base64, url: text, metadata: plain, filename: text, mediaType: text }, oneContent);

const message = fields({
  "messageId!": id,
  "role!": role,
  "parts!": listOf(part, MAX_PARTS, 1),
  taskId: maybeId,
  contextId: maybeId,
  metadata: plain,
  extensions: listOf(text, 64),
  referenceTaskIds: listOf(id, 64),
});

const configuration = fields({
  historyLength: count,
  returnImmediately: flag,
  acceptedOutputModes: listOf(text, 64),
});

const send = fields({ "message!": message, configuration, metadata: plain });
const withId = fields({ "id!": id });

const METHODS: Readonly<Record<string, Check>> = {
  SendMessage: send,
  SendStreamingMessage: send,
  GetTask: fields({ "id!": id, historyLength: count }),
  ListTasks: fields({
    contextId: maybeId,
    status: state,
    pageSize: whole(1, MAX_PAGE),
    pageToken: text,
    historyLength: count,
    statusTimestampAfter: date,
    includeArtifacts: flag,
  }),
  CancelTask: withId,
  SubscribeToTask: withId,
};

/** Refuses parameters that the codec would bend into shape. @throws {RequestMalformedError} naming the field */
export function checkParams(method: string, params: unknown): void {
  const wrong = Object.hasOwn(METHODS, method) ? METHODS[method]!(params, "") : undefined;
  if (wrong !== undefined) throw new RequestMalformedError(`Read the parameters of ${method}: ${wrong}`);
}

/** Both spellings are taken, as the codec takes both. */
function fieldOf(value: Record<string, unknown>, name: string): unknown {
  return value[name] ?? value[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function first<T>(items: readonly T[], find: (item: T, at: number) => string | undefined): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = find(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
