import { CapsuleError } from "../base/mod.ts";
import { findCredential, findReference, isCredentialName } from "./credentials.ts";
import { attempt, checkGrants, checkNamedFile, elements, get, problem } from "./cross_checks.ts";
import { joinPath, type Problem, type ReadDocument } from "./document.ts";
import { parseEndpoint, parseEndpoints, parseOrigin } from "./endpoint.ts";
import { allowsOrigin, parseNetEntry } from "./net_entry.ts";
import { describeFound } from "./problems.ts";

/** Tools that the runtime itself offers. */
const OWN_TOOLS: readonly string[] = [
  "delegate-task",
  "finish",
  "request-input",
  "send-message",
  "submit-plan",
  "use-skill",
];

/** Headers that are the connection's own, or that would say who asks. */
const REFUSED_HEADERS = /^(host|content-length|content-type|transfer-encoding|connection|upgrade|te|trailer|expect)$/i;
const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|x-api-key|api-key)$/i;

const AGENT_KEYS: readonly string[] = ["tools", "skills", "peers", "secrets"];

/** A capsule is a command, with a component, or an agent, with a model. */
export function checkForm(document: ReadDocument): Problem[] {
  const isObject = typeof document.value === "object" && document.value !== null && !Array.isArray(document.value);
  if (!isObject) return [];
  const has = (key: string) => get(document.value, key) !== undefined;
  const refuse = (key: string, message: string) => [problem(document, key, message)];
  if (!has("inference")) {
    return [
      ...(has("component") ? [] : refuse("component", "missing, wanted a component, or inference for an agent")),
      ...AGENT_KEYS.filter(has).flatMap((key) => refuse(key, "only an agent has it, which has inference; remove it")),
    ];
  }
  return [
    ...(has("component") ? refuse("component", "an agent, which has inference, has none; name it in tools") : []),
    ...(has("args") ? refuse("args", "an agent is told its task, not arguments; remove it") : []),
  ];
}

/** What no schema of single values can say of an agent. */
export function checkAgent(document: ReadDocument): Problem[] {
  return [
    ...checkForm(document),
    ...checkInference(document),
    ...checkSecrets(document),
    ...checkTools(document),
    ...checkSkills(document),
    ...checkPeers(document),
  ];
}

function checkInference(document: ReadDocument): Problem[] {
  const inference = get(document.value, "inference");
  const at = (key: string) => `inference.${key}`;
  const has = (key: string) => get(inference, key) !== undefined;
  const [uri, promptFile] = [get(inference, "uri"), get(inference, "system_prompt_file")];
  const isScripted = get(inference, "dialect") === "scripted";
  const problems = [
    ...(typeof promptFile === "string" ? checkNamedFile(document, at("system_prompt_file"), promptFile) : []),
    ...(has("system_prompt") && promptFile !== undefined
      ? [problem(document, at("system_prompt_file"), "found system_prompt too, keep one")]
      : []),
    ...checkKey(document, at("api_key"), get(inference, "api_key"), modelOrigins(document)),
    ...checkHeaders(document, get(inference, "headers")),
  ];
  if (isScripted) {
    return [
      ...problems,
      ...(typeof uri === "string"
        ? checkNamedFile(document, at("uri"), uri)
        : [problem(document, at("uri"), "missing, wanted the file of the playbook that dialect scripted plays")]),
      ...["api_key", "headers"].filter(has).map((key) =>
        problem(document, at(key), "a playbook is sent nothing; remove it")
      ),
    ];
  }
  if (typeof uri !== "string") return problems;
  return [
    ...problems,
    ...(has("model") ? [] : [problem(document, at("model"), "missing, wanted the model's name at uri")]),
    ...(findCredential(uri) === undefined ? attempt(document, at("uri"), () => void parseEndpoints(uri)) : []),
  ];
}

/** A key is never shown, whatever stands there. */
function checkKey(document: ReadDocument, path: string, value: unknown, origins: readonly string[]): Problem[] {
  if (typeof value !== "string" || findCredential(value) !== undefined) return [];
  const name = referenceOf(value);
  if (name !== undefined) return checkUse(document, path, name, origins);
  const message = `found a text (${value.length} characters, not shown), wanted "\${NAME}", a variable in secrets`;
  return [problem(document, path, message)];
}

function checkHeaders(document: ReadDocument, headers: unknown): Problem[] {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return [];
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]): Problem[] => {
    const path = joinPath("inference.headers", name);
    const refuse = (message: string) => [problem(document, path, message)];
    if (!/^[A-Za-z0-9-]{1,64}$/.test(name)) return refuse("wanted a header's name, up to 64 of A-Z a-z 0-9 -");
    if (REFUSED_HEADERS.test(name)) return refuse("this header is the connection's own; remove it");
    if (seen.has(name.toLowerCase())) return refuse("this header is there twice, keep one");
    seen.add(name.toLowerCase());
    if (typeof value !== "string" || findCredential(value) !== undefined) return [];
    const secret = referenceOf(value);
    if (secret !== undefined) return checkUse(document, path, secret, modelOrigins(document));
    if (SECRET_HEADERS.test(name) || isCredentialName(name.replaceAll("-", "_"))) {
      return refuse(`found a text (${value.length} characters, not shown), wanted "\${NAME}", a variable in secrets`);
    }
    if (findReference(value) !== undefined) return refuse("a reference must be the whole value, as ${NAME}");
    return /^[\x20-\x7e]*$/.test(value) ? [] : refuse("wanted printable ASCII");
  });
}

/** The name in a value that is one `${NAME}` and nothing else. */
export function referenceOf(value: string): string | undefined {
  return /^\$\{([A-Za-z][A-Za-z0-9_]{0,255})\}$/.exec(value)?.[1];
}

/** Where a model's credentials are sent; a playbook is sent nothing. */
function modelOrigins(document: ReadDocument): readonly string[] {
  const [uri, dialect] = ["uri", "dialect"].map((key) => get(get(document.value, "inference"), key));
  if (typeof uri !== "string" || dialect === "scripted") return [];
  return (quietly(() => parseEndpoints(uri)) ?? []).map(({ origin }) => origin);
}

/** `${NAME}` must be in `secrets`, for every origin that the value would be sent to. */
function checkUse(document: ReadDocument, path: string, name: string, origins: readonly string[]): Problem[] {
  const secrets = get(document.value, "secrets");
  const listed = get(secrets, name);
  if (listed === undefined) {
    const example = `{ "${name}": ["https://HOST"] }`;
    return [problem(document, path, `found "\${${name}}", which secrets does not list; add "secrets": ${example}`)];
  }
  const allowed = elements(listed).map(([origin]) => quietly(() => parseOrigin(String(origin))));
  const strange = origins.find((origin) => !allowed.includes(origin));
  if (strange === undefined) return [];
  const message = `"\${${name}}" would be sent to ${strange}, which secrets does not list for it`;
  return [problem(document, path, message)];
}

function quietly<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function checkSecrets(document: ReadDocument): Problem[] {
  const secrets = get(document.value, "secrets");
  if (typeof secrets !== "object" || secrets === null || Array.isArray(secrets)) return [];
  const used = usedSecrets(document.value);
  const env = elements(get(get(document.value, "grants"), "env")).map(([name]) => name);
  return Object.entries(secrets).flatMap(([name, origins]): Problem[] => {
    const path = joinPath("secrets", name);
    // Who writes the key where its name belongs must not read it in a message.
    if (findCredential(name) !== undefined || !/^[A-Za-z][A-Za-z0-9_]{0,255}$/.test(name)) {
      return [problem(document, path, "wanted a variable's name, never what is in it")];
    }
    return [
      ...(used.has(name) ? [] : [
        problem(
          document,
          path,
          `nothing uses "\${${name}}" (api_key, headers of inference, token of peers); remove it`,
        ),
      ]),
      ...(env.includes(name) ? [problem(document, path, "it is in grants.env too, where a guest would read it")] : []),
      ...checkOrigins(document, path, origins),
    ];
  });
}

function checkOrigins(document: ReadDocument, path: string, origins: unknown): Problem[] {
  const seen = new Set<string>();
  return elements(origins).flatMap(([origin, index]) => {
    if (typeof origin !== "string" || findCredential(origin) !== undefined) return [];
    const at = `${path}[${index}]`;
    return attempt(document, at, () => {
      const canonical = parseOrigin(origin);
      if (seen.has(canonical)) {
        throw new CapsuleError("inference.bad_uri", `found ${describeFound(canonical)} twice, keep one`);
      }
      seen.add(canonical);
    });
  });
}

function usedSecrets(manifest: unknown): ReadonlySet<string> {
  const inference = get(manifest, "inference");
  const headers = get(inference, "headers");
  const values = [
    get(inference, "api_key"),
    ...Object.values(typeof headers === "object" && headers ? headers : {}),
    ...elements(get(manifest, "peers")).map(([peer]) => get(peer, "token")),
  ];
  return new Set(values.flatMap((value) => typeof value === "string" ? referenceOf(value) ?? [] : []));
}

function checkTools(document: ReadDocument): Problem[] {
  return checkNamed(document, "tools", (tool, path) => {
    const component = get(tool, "component");
    const grants = get(tool, "grants");
    const hosts = elements(get(get(grants, "fs"), "mounts")).filter(([mount]) => get(mount, "host") !== undefined);
    return [
      ...(typeof component === "string" ? checkNamedFile(document, `${path}.component`, component) : []),
      ...checkGrants(document, grants, `${path}.grants`),
      ...hosts.map(([, index]) =>
        problem(document, `${path}.grants.fs.mounts[${index}].host`, "a tool's folders are its capsule's; remove it")
      ),
      ...(get(grants, "containment") === undefined
        ? []
        : [problem(document, `${path}.grants.containment`, "it is asked for in the capsule's own grants; remove it")]),
    ];
  });
}

function checkSkills(document: ReadDocument): Problem[] {
  return checkNamed(document, "skills", (skill, path) => {
    const file = get(skill, "file");
    return typeof file === "string" ? checkNamedFile(document, `${path}.file`, file) : [];
  });
}

/** What is sent to a peer goes where its capsule's network may go. */
function checkPeers(document: ReadDocument): Problem[] {
  const net = elements(get(get(document.value, "grants"), "net"))
    .flatMap(([entry]) => quietly(() => parseNetEntry(String(entry))) ?? []);
  return checkNamed(document, "peers", (peer, path) => {
    const url = get(peer, "url");
    if (typeof url !== "string" || findCredential(url) !== undefined) return [];
    const problems = attempt(document, `${path}.url`, () => void parseEndpoint(url));
    if (problems.length > 0) return problems;
    const { origin } = parseEndpoint(url);
    const isGranted = net.some((entry) => allowsOrigin(entry, origin));
    return [
      ...(isGranted ? [] : [problem(document, `${path}.url`, `grants.net does not have it; add "${origin}" there`)]),
      ...checkKey(document, `${path}.token`, get(peer, "token"), [origin]),
    ];
  });
}

/** Each item of a list in which no name may be twice, nor be one of the runtime's own. */
function checkNamed(
  document: ReadDocument,
  key: "tools" | "skills" | "peers",
  check: (item: unknown, path: string) => Problem[],
): Problem[] {
  const seen = new Set<unknown>();
  return elements(get(document.value, key)).flatMap(([item, index]) => {
    const path = `${key}[${index}]`;
    const name = get(item, "name");
    const problems = check(item, path);
    if (typeof name !== "string") return problems;
    if (key === "tools" && OWN_TOOLS.includes(name)) {
      problems.push(problem(document, `${path}.name`, `found ${describeFound(name)}, which boll's own tool has`));
    }
    if (seen.has(name)) {
      problems.push(problem(document, `${path}.name`, `found ${describeFound(name)} twice, keep one`));
    }
    seen.add(name);
    return problems;
  });
}
