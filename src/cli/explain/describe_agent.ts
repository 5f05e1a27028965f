import { printableLine } from "../../base/mod.ts";
import { type ModelGrant, peerSecrets } from "../../grants/mod.ts";
import type { AgentCapsule, Peer } from "../../manifest/mod.ts";

/** What an agent's model is and where its secrets go, one line each; foreign text is made safe. */
export function modelLines(model: ModelGrant | undefined): string[] {
  if (model === undefined) return ["the model of who delegates to it, or of --uri"];
  const { dialect, endpoints, model: name, secrets, headers, from } = model;
  if (dialect === "scripted") return ["a playbook in place of a model: nothing is sent anywhere"];
  const who = from === "operator" ? ", as you typed" : "";
  const plain = headers.filter((header) => "value" in header).map((header) => header.name);
  return [
    // In quotes: a name may read like the rest of this line.
    `the model ${printableLine(JSON.stringify(name ?? ""), 600)} (${dialect}) at ${
      endpoints.map(shown).join(", then ")
    }${who}: ` +
    "what it reads is sent there",
    ...(plain.length === 0 ? [] : [`the headers ${plain.map(shown).join(", ")} are sent with it`]),
    ...secretLines(secrets),
  ];
}

/** Each variable, and the only origins that its value goes to. */
export function secretLines(secrets: ModelGrant["secrets"]): string[] {
  return Object.entries(secrets).map(([name, origins]) =>
    `the secret ${shown(name)} is sent to ${origins.map(shown).join(", ")}, and nowhere else`
  );
}

/** The agents elsewhere that it may write to, and where the secrets for that go. */
export function peerLines(peers: readonly Peer[]): string[] {
  return [
    ...peers.map(({ name, url }) => `the peer ${shown(name)} at ${shown(url)}: it may send messages there`),
    ...secretLines(peerSecrets(peers)),
  ];
}

/** What an agent is beside its grants, as indented lines. */
export function describeAgent(
  { tools, skills, manifest }: AgentCapsule,
  { model, peers }: { readonly model: ModelGrant | undefined; readonly peers: readonly Peer[] },
): string {
  const { max_turns, max_session_tokens } = manifest.inference;
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => shown(name)).join(", ");
  const lines = [
    ...modelLines(model),
    ...peerLines(peers),
    `at most ${max_turns} rounds of the model and ${max_session_tokens} tokens`,
    ...(skills.length === 0 ? [] : [`the skills ${names(skills)}`]),
    ...(tools.length === 0 ? [] : [`the tools ${names(tools)}, each with no more than this:`]),
  ];
  return lines.map((line) => `  ${line}\n`).join("");
}

function shown(text: string): string {
  return printableLine(text, 200);
}
