/** `error-code` of `wasi:http/types`: the cases that this host says. */
export type HttpError =
  | { readonly tag: PlainHttpError }
  | { readonly tag: "DNS-error"; readonly val: { readonly rcode?: string; readonly infoCode?: number } }
  | { readonly tag: "TLS-alert-received"; readonly val: { readonly alertId?: number; readonly alertMessage?: string } }
  | { readonly tag: "HTTP-request-body-size" | "HTTP-response-body-size"; readonly val?: bigint }
  | { readonly tag: "HTTP-request-header-section-size" | "HTTP-request-trailer-section-size"; readonly val?: number }
  | { readonly tag: "HTTP-response-header-section-size"; readonly val?: number }
  | { readonly tag: "HTTP-response-transfer-coding"; readonly val?: string }
  | { readonly tag: "internal-error"; readonly val?: string };

/** Cases without a payload. */
export type PlainHttpError =
  | "DNS-timeout"
  | "destination-unavailable"
  | "destination-IP-prohibited"
  | "connection-refused"
  | "connection-terminated"
  | "connection-timeout"
  | "connection-read-timeout"
  | "connection-limit-reached"
  | "TLS-protocol-error"
  | "TLS-certificate-error"
  | "HTTP-request-denied"
  | "HTTP-request-method-invalid"
  | "HTTP-request-URI-invalid"
  | "HTTP-request-URI-too-long"
  | "HTTP-response-incomplete"
  | "HTTP-response-timeout"
  | "HTTP-protocol-error"
  | "loop-detected"
  | "configuration-error";
