import { HOSTED } from "../hosted.ts";
import { IoError } from "../io_error.ts";
import type { NetCheck } from "../net/net_check.ts";
import type { Ways } from "./exchange.ts";
import { Fields } from "./fields.ts";
import { FutureIncomingResponse } from "./future_response.ts";
import type { HttpError } from "./http_error.ts";
import { FutureTrailers, IncomingBody } from "./incoming_body.ts";
import { IncomingRequest, IncomingResponse } from "./incoming_message.ts";
import { OutgoingBody } from "./outgoing_body.ts";
import { OutgoingRequest, OutgoingResponse, requestPartsOf } from "./outgoing_message.ts";
import { RequestOptions, timeoutsOf } from "./request_options.ts";
import { ResponseOutparam } from "./response_outparam.ts";
import { prepareRequest, requestError, sendRequest } from "./send_request.ts";

/** `wasi:http/types`: what messages are made of. It carries no authority. */
export function httpTypeImports(): Record<string, Record<string, unknown>> {
  return {
    "wasi:http/types": {
      Fields,
      FutureIncomingResponse,
      FutureTrailers,
      IncomingBody,
      IncomingRequest,
      IncomingResponse,
      OutgoingBody,
      OutgoingRequest,
      OutgoingResponse,
      RequestOptions,
      ResponseOutparam,
      httpErrorCode: (error: IoError): HttpError | undefined => error instanceof IoError ? error.httpCode : undefined,
    },
  };
}

/** `wasi:http/outgoing-handler`, through the gate and to granted places alone. */
export function outgoingHandlerImports(ways: Ways, check: NetCheck): Record<string, Record<string, unknown>> {
  return {
    "wasi:http/outgoing-handler": {
      handle(request: OutgoingRequest, options: RequestOptions | undefined): FutureIncomingResponse {
        if (!(request instanceof OutgoingRequest)) throw new TypeError("Handle a request: found another type");
        const parts = requestPartsOf(request);
        const timeouts = options instanceof RequestOptions ? timeoutsOf(options) : {};
        let prepared;
        try {
          prepared = prepareRequest(parts, timeouts, check);
        } catch (error) {
          parts.body?.breakOff(error as HttpError);
          throw error;
        }
        const abort = new AbortController();
        return new FutureIncomingResponse(HOSTED, {
          response: sendRequest(prepared, ways, check, abort.signal),
          errorOf: requestError,
          onWait: () => parts.body?.decide(),
          cancel: () => abort.abort(),
        });
      },
    },
  };
}
