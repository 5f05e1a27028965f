import { printableLine } from "../../base/mod.ts";
import type {
  AgentExplanation,
  Explanation,
  StartableExplanation,
  ToolExplanation,
  WallExplanation,
} from "../../grants/mod.ts";
import { startableLabel } from "../consent/consent_scope.ts";
import { modelLines, peerLines } from "./describe_agent.ts";
import { describeGrants } from "./describe_grants.ts";
import type { Paint } from "../text/paint.ts";
import { READING_WIDTH, wrapLine } from "../text/wrap.ts";

/** Longest entry that is shown, before it is wrapped. */
const MAX_LINE_LENGTH = 4000;

const STANDING: Readonly<Record<Explanation["standing"], string>> = {
  own: "your own: its manifest is your word",
  foreign: "foreign",
  bare: "a bare component: it has what the command line says",
};

const CONSENT: Readonly<Record<Explanation["consent"], string>> = {
  not_needed: "",
  stored: ", its grants are accepted",
  missing: ", its grants are not accepted yet: `boll run` asks, or takes --accept",
};

/** `boll explain` for people: most important first, every foreign text made safe. */
export function explanationText(explanation: Explanation, paint: Paint): string {
  const { missing, unbound = [], unused = [], secrets, warnings, may_start, agent } = explanation;
  return [
    ...identityLines(explanation, paint),
    ...section(paint.bad("Imported and not granted: a run is refused"), missing.map(missingLine)),
    ...section(paint.bad("Mounts without a folder: a run is refused"), unbound.map(({ flag }) => `add ${flag}`)),
    ...section(paint.warn("Warnings"), warnings),
    ...section(
      paint.bad("Dangerous together: a text that it reads may make it send what it holds"),
      dangerLines(agent),
    ),
    ...section("Model", agent === undefined ? [] : agentLines(agent)),
    ...section(agent === undefined ? "Grants" : "The most that any tool has", grantLines(explanation)),
    ...section("May start, each with no more than it has itself", (may_start ?? []).map(startableLine)),
    ...section("Granted and never imported", unused),
    ...section(
      "Secrets, and where they may go",
      Object.entries(secrets).map(([name, to]) => `${name} to ${to.join(", ")}`),
    ),
    ...section("Skills", (agent?.skills ?? []).map(({ name, description }) => `${name}: ${description}`)),
    ...containmentLines(explanation, paint),
    ...explanation.walls.flatMap((wall) => ["", ...wallLines(wall, paint)]),
    ...groupTools(agent?.tools ?? []).flatMap((tools) => toolLines(tools, paint)),
    "",
  ].join("\n");
}

function identityLines({ capsule, digest, standing, consent }: Explanation, paint: Paint): string[] {
  const title = [capsule.name, capsule.version].filter((part) => part !== undefined).join(" ");
  return [
    paint.bold(printableLine(title)),
    `  ${printableLine(capsule.path)}`,
    `  ${digest}`,
    `  ${STANDING[standing]}${CONSENT[consent]}`,
  ];
}

function missingLine(missing: Explanation["missing"][number]): string {
  const line = missing.manifestLine === undefined ? "" : ` (line ${missing.manifestLine} of the manifest)`;
  const allow = missing.allow === undefined ? "" : `; ${missing.allow}`;
  return `${missing.interface}: ${missing.reason}${line}${allow}`;
}

function dangerLines(agent: AgentExplanation | undefined): string[] {
  if (agent?.danger === undefined) return [];
  const { untrusted_input, private_data, way_out } = agent.danger;
  return [
    `it reads what others wrote: ${untrusted_input.join(", ")}`,
    `it holds what is private: ${private_data.join(", ")}`,
    `it can send it out: ${way_out.join(", ")}`,
  ];
}

function agentLines({ model, peers = [], limits }: AgentExplanation): string[] {
  const { max_turns, max_output_tokens, max_session_tokens } = limits;
  return [
    ...modelLines(model),
    ...peerLines(peers),
    `at most ${max_turns} rounds, ${max_output_tokens} tokens an answer, ${max_session_tokens} tokens in all`,
  ];
}

/** Tools that have the same run in one cell, behind the same walls. */
function groupTools(tools: readonly ToolExplanation[]): readonly (readonly [ToolExplanation, ...ToolExplanation[]])[] {
  return [...Map.groupBy(tools, ({ grants }) => JSON.stringify(grants)).values()] as [ToolExplanation][];
}

function toolLines(tools: readonly [ToolExplanation, ...ToolExplanation[]], paint: Paint): string[] {
  const names = tools.map(({ name }) => name).join(", ");
  const [{ grants, walls }] = tools;
  const each = (find: (tool: ToolExplanation) => readonly string[] | undefined) =>
    tools.flatMap((tool) => (find(tool) ?? []).map((text) => `${tool.name}: ${text}`));
  return [
    ...section(
      paint.bold(printableLine(`${tools.length === 1 ? "Tool" : "Tools"} ${names}`, 400)),
      grantLines({ grants }),
    ),
    ...section(
      paint.bad("Imported and not granted: a run is refused"),
      each(({ missing }) => missing.map(missingLine)),
    ),
    ...section(paint.warn("Asked for beyond the capsule, and dropped"), each(({ dropped }) => dropped)),
    ...section("Granted and never imported", each(({ unused }) => unused)),
    ...walls.flatMap((wall) => ["", ...wallLines(wall, paint)]),
  ];
}

function startableLine(child: StartableExplanation): string {
  const model = child.model === undefined ? [] : modelLines(child.model);
  const asks = child.grants === undefined ? "" : `: ${[...model, ...grantLines({ grants: child.grants })].join("; ")}`;
  return `${startableLabel(child)}${asks}`;
}

function grantLines({ grants }: Pick<Explanation, "grants">): string[] {
  return describeGrants(grants).split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function containmentLines({ containment }: Explanation, paint: Paint): string[] {
  const { asked, achieved, met, reasons } = containment;
  const floor = asked === undefined
    ? "no floor asked"
    : `floor ${asked}: ${met ? paint.good("met") : paint.bad("not met, a run is refused")}`;
  return [
    "",
    `${paint.bold("Containment")} ${achieved} (${floor})`,
    ...reasons.flatMap((reason) => safeLines(`  ${reason}`, "  ")),
  ];
}

function wallLines({ wall, name, up, binds, does_not_bind }: WallExplanation, paint: Paint): string[] {
  const lines = (word: string, texts: readonly string[]) =>
    texts.flatMap((text) => safeLines(`  ${word.padEnd(6)}  ${text}`, " ".repeat(10)));
  return [
    `${paint.bold(`Wall ${wall}: ${name}`)} ${up ? paint.good("up") : paint.bad("not up")}`,
    ...lines("holds", binds),
    ...lines("cannot", does_not_bind).map((line) => paint.dim(line)),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.flatMap((line) => safeLines(`  ${line}`, "    "))];
}

function safeLines(line: string, indent: string): string[] {
  return wrapLine(printableLine(line, MAX_LINE_LENGTH), { width: READING_WIDTH, indent });
}
