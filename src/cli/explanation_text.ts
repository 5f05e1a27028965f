import { printableLine } from "../base/mod.ts";
import type { Explanation, StartableExplanation, WallExplanation } from "../grants/mod.ts";
import { startableLabel } from "./consent_scope.ts";
import { describeGrants } from "./describe_grants.ts";
import type { Paint } from "./paint.ts";
import { READING_WIDTH, wrapLine } from "./wrap.ts";

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
  const { missing, unbound = [], unused = [], secrets, warnings, may_start } = explanation;
  return [
    ...identityLines(explanation, paint),
    ...section(paint.bad("Imported and not granted: a run is refused"), missing.map(missingLine)),
    ...section(paint.bad("Mounts without a folder: a run is refused"), unbound.map(({ flag }) => `add ${flag}`)),
    ...section(paint.warn("Warnings"), warnings),
    ...section("Grants", grantLines(explanation)),
    ...section("May start, each with no more than it has itself", (may_start ?? []).map(startableLine)),
    ...section("Granted and never imported", unused),
    ...section(
      "Secrets, and where they may go",
      Object.entries(secrets).map(([name, to]) => `${name} to ${to.join(", ")}`),
    ),
    ...containmentLines(explanation, paint),
    ...explanation.walls.flatMap((wall) => ["", ...wallLines(wall, paint)]),
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

function startableLine(child: StartableExplanation): string {
  const asks = child.grants === undefined ? "" : `: ${grantLines({ grants: child.grants }).join("; ")}`;
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
