/** Asks a model from inside a worker that may do nothing but reach one origin. */
import { openModel } from "../../src/agent/model/mod.ts";
import type { Intelligence } from "../../src/protocol/control/mod.ts";
import { ask } from "./model_fixture.ts";

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Intelligence>) => void;
  postMessage(said: unknown): void;
};
scope.onmessage = async ({ data }) => {
  try {
    const model = await openModel(data);
    const { answer } = await ask(model);
    model.close();
    scope.postMessage(answer.text);
  } catch (error) {
    scope.postMessage(String(error));
  }
};
