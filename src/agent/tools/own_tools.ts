import { CapsuleError } from "../../base/mod.ts";
import { Fields, findDelegateFault } from "../../protocol/mod.ts";
import type { LoadedSkill } from "../session/find_agent.ts";
import { plainDescription } from "../loop/mod.ts";
import type { TurnChildren } from "../turn/turn_children.ts";
import { type DeskTool, refusal } from "./tool_desk.ts";

/** Asks whoever is there; a refusal says why there is no answer. */
export type AskUser = (question: string, signal: AbortSignal) => Promise<
  { readonly text: string; readonly isForeign: boolean } | { readonly refused: string }
>;

const TEXT = { type: "string", minLength: 1, maxLength: 256 * 1024 } as const;

/** The tool by which a model delegates. */
export function delegateTool(children: TurnChildren, spawn: readonly string[]): DeskTool {
  return {
    def: {
      name: "delegate-task",
      description:
        "Starts another capsule on a task of its own, and returns at once. What came of it is told when you " +
        "have nothing else to do.",
      input_schema: {
        type: "object",
        properties: {
          capsule: { type: "string", maxLength: 256, description: `One of: ${spawn.join(", ")}` },
          version: { type: "string", maxLength: 128, description: "Exactly this one; default the one that is locked." },
          task: { ...TEXT, description: "All that it has to know: it sees nothing of this conversation." },
        },
        required: ["capsule", "task"],
        additionalProperties: false,
      },
    },
    mutates: true,
    async run(args) {
      const fields = new Fields(args, "arguments");
      const call = {
        capsule: fields.string("capsule"),
        ...fields.optional("version", (name) => fields.string(name)),
        task: fields.string("task", { max: TEXT.maxLength }),
        mounts: [],
      };
      const fault = findDelegateFault(call);
      if (fault !== undefined) return refusal(`Delegate: ${fault}`);
      const answer = await children.start(call);
      if ("kind" in answer) return refusal(`[delegate-task] ${answer.kind}: ${answer.message}`);
      const content =
        `[delegate-task] started ${answer.delegation_id}; what came of it is told when you have nothing else to do`;
      return { content, isError: false, isForeign: false };
    },
  };
}

/** The tool by which a model asks back. */
export function requestInputTool(ask: AskUser): DeskTool {
  return {
    def: {
      name: "request-input",
      description: "Asks whoever gave the task a question, and waits for the answer.",
      input_schema: {
        type: "object",
        properties: { question: { type: "string", minLength: 1, maxLength: 4_096 } },
        required: ["question"],
        additionalProperties: false,
      },
    },
    mutates: true,
    async run(args, signal) {
      const question = new Fields(args, "arguments").string("question");
      const answer = await ask(question, signal);
      if ("refused" in answer) return refusal(`[request-input] ${answer.refused}`);
      return { content: answer.text, isError: false, isForeign: answer.isForeign };
    },
  };
}

/** The tool that gives a skill's text: its capsule's own word, as its prompt is. */
export function skillTool(skills: readonly LoadedSkill[]): DeskTool {
  const told = skills.map(({ name, description }) => `${name}: ${plainDescription(description)}`).join("\n");
  return {
    def: {
      name: "use-skill",
      description: "Gives the text of a skill: how something is to be done.",
      input_schema: {
        type: "object",
        properties: { name: { enum: skills.map(({ name }) => name), description: told } },
        required: ["name"],
        additionalProperties: false,
      },
    },
    mutates: false,
    run(args) {
      const name = new Fields(args, "arguments").string("name");
      const skill = skills.find((skill) => skill.name === name);
      if (skill === undefined) throw new CapsuleError("internal", `Use a skill: ${name} is none`);
      return Promise.resolve({ content: skill.text, isError: false, isForeign: false });
    },
  };
}
