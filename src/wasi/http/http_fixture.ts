import type { NetFixture } from "../net/net_fixture.ts";
import { readAll } from "../net/net_fixture.ts";
import { utf8 } from "../net/stream_fixture.ts";
import { Fields } from "./fields.ts";
import type { FutureIncomingResponse } from "./future_response.ts";
import { IncomingBody } from "./incoming_body.ts";
import type { IncomingResponse } from "./incoming_message.ts";
import { OutgoingBody } from "./outgoing_body.ts";
import { OutgoingRequest } from "./outgoing_message.ts";
import { RequestOptions } from "./request_options.ts";
import type { Timeouts } from "./request_options.ts";

/** A request as a test says it. */
export interface Asked extends Timeouts {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

/** What came back. */
export interface Answered {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

/** A certificate for `localhost` and 127.0.0.1, of an authority that nobody trusts. Valid until 2126. */
export const TLS = {
  ca: readTestData("ca.pem"),
  cert: readTestData("server.pem"),
  key: readTestData("server.key"),
};

export function makeRequest(url: string, { method = "get", headers = [] }: Asked = {}): OutgoingRequest {
  const [, scheme = "", authority, path] = /^([a-z]+):\/\/([^/?]*)(.*)$/.exec(url) ?? [];
  const request = new OutgoingRequest(Fields.fromList(headers.map(([name, value]) => [name, utf8(value)])));
  request.setMethod({ tag: method });
  request.setScheme({ tag: scheme.toUpperCase() });
  request.setAuthority(authority);
  request.setPathWithQuery(path);
  return request;
}

/** `handle`, as the glue calls it. */
export function handle(fixture: NetFixture, request: OutgoingRequest, timeouts: Timeouts = {}): FutureIncomingResponse {
  const call = fixture.wasi.imports["wasi:http/outgoing-handler"]!["handle"] as (
    request: OutgoingRequest,
    options: RequestOptions,
  ) => FutureIncomingResponse;
  const options = new RequestOptions();
  const inNs = (ms: number | undefined) => ms === undefined ? undefined : BigInt(ms) * 1_000_000n;
  options.setConnectTimeout(inNs(timeouts.connectMs));
  options.setFirstByteTimeout(inNs(timeouts.firstByteMs));
  options.setBetweenBytesTimeout(inNs(timeouts.betweenBytesMs));
  return call(request, options);
}

/** The response of a future. @throws HttpError */
export async function receive(future: FutureIncomingResponse): Promise<IncomingResponse> {
  await future.subscribe().block();
  const result = future.get();
  if (result?.tag !== "ok") throw new Error("a future that is ready has nothing");
  if (result.val.tag === "err") throw result.val.val;
  return result.val.val;
}

export async function readResponse(response: IncomingResponse): Promise<Answered> {
  const headers = response.headers().entries().map(([name, value]) => [name, new TextDecoder().decode(value)] as const);
  const body = response.consume();
  const stream = body.stream();
  const text = await readAll(stream);
  stream[Symbol.dispose]();
  IncomingBody.finish(body);
  return { status: response.status(), headers, text };
}

/** Sends, waits, reads all. @throws HttpError */
export async function ask(fixture: NetFixture, url: string, asked: Asked = {}): Promise<Answered> {
  const request = makeRequest(url, asked);
  const body = asked.body === undefined ? undefined : request.body();
  const future = handle(fixture, request, asked);
  if (body !== undefined) {
    await body.write().blockingWriteAndFlush(utf8(asked.body!));
    OutgoingBody.finish(body, undefined);
  }
  return await readResponse(await receive(future));
}

/** A server of whole requests on 127.0.0.1, and what it was asked. */
export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** `METHOD path body`, one each. */
  readonly asked: string[];
}

export function serve(
  handler: (request: Request, body: string) => Response | Promise<Response>,
  tls?: { readonly cert: string; readonly key: string },
): TestServer {
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls }, async (request) => {
    const body = await request.text();
    asked.push(`${request.method} ${new URL(request.url).pathname} ${body}`.trimEnd());
    return await handler(request, body);
  });
  return { port: server.addr.port, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

function readTestData(name: string): string {
  return Deno.readTextFileSync(new URL(`./testdata/${name}`, import.meta.url));
}
