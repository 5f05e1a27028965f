import * as z from "zod/mini";
import { count, grantsSchema, text } from "./grants_schema.ts";
import { CAPSULE_NAME, TOOL_NAME } from "./names.ts";

/** The keys of an agent capsule. What may not be shown in a message (values of headers, keys) is checked apart. */

const MAX_ITEMS = 64;
const name = (shape: RegExp, wanted: string) => z.string().check(z.regex(shape, wanted));
const file = (description: string) => text(description).check(z.minLength(1));

/** Any text, shown by no message of this schema. */
const value = z.string().check(z.maxLength(4096));

/** `inference`: where the model is and how much of it a session may use. */
export const inferenceSchema = () =>
  z.strictObject({
    uri: z.exactOptional(
      file(
        "https://… anywhere, http://… on this machine; several with commas between, tried in order. Of the dialect " +
          "scripted: a playbook's file, inside the capsule. Absent: its parent's, or --uri.",
      ),
    ),
    dialect: z.exactOptional(
      z.enum(["openai", "anthropic", "scripted"]).check(
        z.meta({ description: "What the endpoint speaks. Default openai, which most servers do." }),
      ),
    ),
    model: z.exactOptional(
      z.string().check(
        z.minLength(1),
        z.maxLength(256),
        z.regex(/^[^\p{Cc}]*$/u, "one line"),
        z.meta({ description: "The model's name, as the endpoint has it." }),
      ),
    ),
    api_key: z.exactOptional(value.check(z.meta({ description: "${NAME} of a variable that secrets lists." }))),
    headers: z.exactOptional(
      z.record(z.string(), value).check(
        z.meta({
          description: "Further headers of each request: a text, or ${NAME} of a variable that secrets lists.",
        }),
      ),
    ),
    max_turns: z.exactOptional(count(500, "Model rounds of a task. Default 10.")),
    max_output_tokens: z.exactOptional(count(2_000_000, "Tokens of one answer of the model. Default 4096.")),
    max_session_tokens: z.exactOptional(
      count(2_000_000, "Tokens of a session and all that it delegates, in and out. Default 200000."),
    ),
    temperature: z.exactOptional(z.number().check(z.minimum(0), z.maximum(2))),
    system_prompt: z.exactOptional(
      z.string().check(z.maxLength(16_384), z.regex(/^[^\0]*$/, "text without NUL")),
    ),
    system_prompt_file: z.exactOptional(file("A text file inside the capsule, at most 1 MiB.")),
  });

/** `tools`: components that the model may call. */
export const toolsSchema = () =>
  z.array(z.strictObject({
    name: name(TOOL_NAME, "a-z, then up to 63 of a-z 0-9 - _, no two _ together"),
    component: file("The component's file, relative to this one and inside its folder."),
    grants: z.exactOptional(grantsSchema()),
  })).check(z.maxLength(MAX_ITEMS));

/** `skills`: texts that the model may read when it needs them. */
export const skillsSchema = () =>
  z.array(z.strictObject({
    name: name(CAPSULE_NAME, "1 to 64 of a-z 0-9 -"),
    description: z.string().check(
      z.minLength(1),
      z.maxLength(200),
      z.regex(/^[^\p{Cc}]*$/u, "one line"),
      z.meta({ description: "One sentence for the model: when to read it." }),
    ),
    file: file("A text file inside the capsule, at most 1 MiB."),
  })).check(z.maxLength(MAX_ITEMS));

/** `peers`: A2A agents elsewhere that the model may send messages to. */
export const peersSchema = () =>
  z.array(z.strictObject({
    name: name(CAPSULE_NAME, "1 to 64 of a-z 0-9 -"),
    url: file(
      "Where its agent card is: https://… anywhere, http://… on this machine. Its origin must be in grants.net.",
    ),
    token: z.exactOptional(value.check(z.meta({ description: "${NAME} of a variable that secrets lists." }))),
  })).check(z.maxLength(MAX_ITEMS));

/** `secrets`: the variable's name → the only origins that its value may be sent to. */
export const secretsSchema = () =>
  z.record(
    z.string(),
    z.array(z.string().check(z.maxLength(512))).check(z.minLength(1), z.maxLength(16)),
  ).check(
    z.meta({ description: "Name of a variable → the only origins it may be sent to, as https://api.example.com." }),
  );

/** An `inference` block as written. */
export type DeclaredInference = z.infer<ReturnType<typeof inferenceSchema>>;
