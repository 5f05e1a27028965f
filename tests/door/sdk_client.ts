/** The official client, as its users make it. */
import { Role, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";

/** The bindings of a door. */
export const TRANSPORTS = ["JSONRPC", "HTTP+JSON"] as const;

/** A client from the card, with a token in every request. */
export async function clientOf(
  url: string,
  transport: (typeof TRANSPORTS)[number],
  token: string,
): Promise<Client> {
  const fetchImpl = (input: RequestInfo | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const transports = transport === "JSONRPC"
    ? [new JsonRpcTransportFactory({ fetchImpl })]
    : [new RestTransportFactory({ fetchImpl })];
  return await new ClientFactory({ transports, preferredTransports: [transport] }).createFromUrl(url);
}

/** The parameters of a message. */
export function sending(text: string, more: { taskId?: string; returnImmediately?: boolean } = {}) {
  return {
    tenant: "",
    message: {
      messageId: crypto.randomUUID(),
      contextId: "",
      taskId: more.taskId ?? "",
      role: Role.ROLE_USER,
      parts: [{ content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: more.returnImmediately ?? false,
    },
    metadata: undefined,
  };
}

/** The text of all artifacts. */
export function answerOf({ artifacts }: Pick<Task, "artifacts">): string {
  return artifacts.flatMap(({ parts }) => parts).map(({ content }) => content?.$case === "text" ? content.value : "")
    .join("");
}

/** What a stream says, in words. */
export async function words(
  stream: AsyncIterable<Awaited<ReturnType<ReturnType<Client["sendMessageStream"]>["next"]>>["value"] & object>,
) {
  const said: string[] = [];
  for await (const { payload } of stream) {
    if (payload?.$case === "task") said.push(`task ${TaskState[payload.value.status!.state]}`);
    else if (payload?.$case === "statusUpdate") said.push(TaskState[payload.value.status!.state]);
    else if (payload?.$case === "artifactUpdate") said.push(`"${answerOf({ artifacts: [payload.value.artifact!] })}"`);
  }
  return said;
}
