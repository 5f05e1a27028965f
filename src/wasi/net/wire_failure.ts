import type { NetworkError } from "../sockets/network_error.ts";
import type { HttpError } from "../http/http_error.ts";

/** Something went wrong on the way to, or from, another host: in the words of both interfaces that can say so. */
export class WireFailure extends Error {
  override readonly name = "WireFailure";
  readonly http: HttpError;
  readonly network: NetworkError;

  constructor(http: HttpError, network: NetworkError) {
    super(http.tag);
    this.http = http;
    this.network = network;
  }
}
