import { CapsuleError, printableLine } from "../../base/mod.ts";
import type { ModelFlags } from "../../grants/mod.ts";
import { type Capsule, type InferenceDialect, isAgent, readText } from "../../manifest/mod.ts";
import type { Arguments } from "./arguments.ts";
import type { Option } from "../verb.ts";

/** Flags about an agent's model: what the operator types is his grant. */
export const MODEL_OPTIONS: readonly Option[] = [
  { name: "uri", value: "URI", summary: "An agent's model is there: https://host/v1" },
  { name: "model", value: "NAME", summary: "Ask this model" },
  { name: "dialect", value: "DIALECT", summary: "It speaks openai, anthropic, or is scripted" },
  { name: "api-key", value: "NAME", summary: "Send this variable's value there as the key" },
];

/** The same where help has no room for them. */
export const NOTED_MODEL_OPTIONS: readonly Option[] = MODEL_OPTIONS.map((option) => ({ ...option, isNoted: true }));

/** What notes say of those. */
export const MODEL_NOTE = "Its model: --uri URI --model NAME --dialect DIALECT --api-key NAME";

const DIALECTS: readonly InferenceDialect[] = ["openai", "anthropic", "scripted"];
const MAX_PLAYBOOK_BYTES = 1024 * 1024;

/**
 * Reads the flags about a model; a command has none. With the dialect `scripted` the file that `--uri` names is read.
 * @throws `usage.bad_value`
 */
export function readModelFlags(args: Arguments, capsule: Capsule): ModelFlags {
  const given = MODEL_OPTIONS.find(({ name }) => args.has(name));
  if (given === undefined) return {};
  if (!isAgent(capsule)) {
    throw bad(given.name, `${printableLine(capsule.name, 80)} is no agent, it has no model`);
  }
  const [uri, model, apiKey] = [args.value("uri"), args.value("model"), args.value("api-key")];
  const dialect = readDialect(args.value("dialect"));
  if (model !== undefined && (model.length > 256 || /\p{Cc}/u.test(model))) throw bad("model", "wanted one line");
  if (apiKey !== undefined && !/^[A-Za-z][A-Za-z0-9_]{0,255}$/.test(apiKey)) {
    // Who types the key itself here must not read it again in a log.
    throw bad("api-key", `found ${apiKey.length} characters, wanted the name of a variable, never the key itself`);
  }
  return {
    ...(uri === undefined ? {} : { uri }),
    ...(model === undefined ? {} : { model }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(dialect === "scripted" && uri !== undefined
      ? { playbook: readText(uri, { code: "usage.bad_value", maxBytes: MAX_PLAYBOOK_BYTES }).text }
      : {}),
  };
}

function readDialect(text: string | undefined): InferenceDialect | undefined {
  if (text === undefined) return undefined;
  const found = DIALECTS.find((dialect) => dialect === text);
  if (found !== undefined) return found;
  throw bad("dialect", `found "${printableLine(text, 80)}", wanted ${DIALECTS.join(", ")}`);
}

function bad(flag: string, why: string): CapsuleError {
  return new CapsuleError("usage.bad_value", `Read --${flag}: ${why}`);
}
