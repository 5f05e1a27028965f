import type { HttpServing, ServingResult } from "./serve_http.ts";

/** `serveHttp`, whose code is loaded only by who serves: a run does not read it. */
export async function startServing(serving: HttpServing): Promise<ServingResult> {
  const { serveHttp } = await import("./serve_http.ts");
  return await serveHttp(serving);
}
