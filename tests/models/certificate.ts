/**
 * A certificate for 127.0.0.1 and `model.test`, and its key, made when they are needed: no key stands in the repository.
 * @module
 */
export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A certificate that signs itself, valid from 2020 to 2049. */
export async function makeCertificate(): Promise<Certificate> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ECDSA, true, ["sign", "verify"]);
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", publicKey));
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, text("boll test")))));
  const address = der(0x87, Uint8Array.of(127, 0, 0, 1));
  const subjectAltName = sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(address, der(0x82, text("model.test")))));
  const body = sequence(
    der(0xa0, der(0x02, Uint8Array.of(2))),
    der(0x02, Uint8Array.of(1)),
    algorithm,
    name,
    sequence(der(0x17, text("200101000000Z")), der(0x17, text("491231235959Z"))),
    name,
    spki,
    der(0xa3, sequence(subjectAltName)),
  );
  const signature = new Uint8Array(await crypto.subtle.sign(ECDSA, privateKey, body));
  const signed = sequence(integer(signature.slice(0, 32)), integer(signature.slice(32)));
  const whole = sequence(body, algorithm, der(0x03, Uint8Array.of(0, ...signed)));
  return { cert: pem("CERTIFICATE", whole), key: pem("PRIVATE KEY", pkcs8) };
}

function der(tag: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Uint8Array.of(tag, ...size, ...content);
}

function sequence(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(0x30, Uint8Array.from(parts.flatMap((part) => [...part])));
}

function oid(...bytes: number[]): Uint8Array {
  return der(0x06, Uint8Array.from(bytes));
}

/** Positive, without needless zeros. */
function integer(bytes: Uint8Array): Uint8Array {
  const from = bytes.findIndex((byte) => byte !== 0);
  const kept = bytes.slice(from);
  return der(0x02, kept[0]! < 0x80 ? kept : Uint8Array.of(0, ...kept));
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function pem(label: string, bytes: Uint8Array<ArrayBuffer>): string {
  const lines = bytes.toBase64().match(/.{1,64}/g)!.join("\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
