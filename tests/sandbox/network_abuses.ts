/** Attempts with what is granted, and with what is no TCP connection at all. */
import type { NetAttempt } from "./network_attempt.ts";

/** A granted place is told that it was asked for another. */
export const lyingHost: NetAttempt = {
  isMalformed: true,
  http: {
    field: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, { headers: [["host", `${mark}.test`]] }),
    spelled: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, { headers: [["Host ", `${mark}.test`]] }),
  },
  around: {
    plain: ({ talk }, { granted }, mark) => talk(granted, `GET / HTTP/1.1\r\nHost: ${mark}.test\r\n\r\n`),
    second: ({ talk }, { granted }, mark) =>
      talk(granted, `GET / HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nHost: ${mark}.test\r\n\r\n`),
  },
  through: {
    plain: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/ HTTP/1.1\r\nHost: ${mark}.test\r\nProxy-Authorization: ${gate.authorization}\r\n\r\n`,
      ),
    second: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/ HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nHost: ${mark}.test\r\n` +
          `Proxy-Authorization: ${gate.authorization}\r\n\r\n`,
      ),
  },
  isOut: ({ granted = "" }, mark) => new RegExp(`\nhost: ?${mark}`, "i").test(granted),
};

/** One request that its reader takes for two, or for one with other fields. */
export const smuggled: NetAttempt = {
  isMalformed: true,
  http: {
    fieldValue: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, { headers: [["x-a", `1\r\n${mark}: 1`]] }),
    lineFeed: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, { headers: [["x-a", `1\n${mark}: 1`]] }),
    nul: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, { headers: [["x-a", `1\0\r\n${mark}: 1`]] }),
    fieldName: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, { headers: [[`x-a: 1\r\n${mark}`, "1"]] }),
    path: ({ send }, { granted }, mark) =>
      send({ authority: `127.0.0.1:${granted}`, path: `/ HTTP/1.1\r\n${mark}: 1\r\nx-b: ` }),
    pathLineFeed: ({ send }, { granted }, mark) =>
      send({ authority: `127.0.0.1:${granted}`, path: `/ HTTP/1.1\n${mark}: 1\nx-b: ` }),
    authority: ({ send }, { granted }, mark) => send({ authority: `127.0.0.1:${granted}\r\n${mark}: 1\r\nx-b: ` }),
    method: ({ send }, { granted }, mark) =>
      send({ authority: `127.0.0.1:${granted}`, method: `GET / HTTP/1.1\r\n${mark}: 1\r\nx-b: ` }),
    length: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, {
        method: "post",
        headers: [["content-length", "2"]],
        body: `ok\r\nGET /${mark} HTTP/1.1\r\nHost: x\r\n\r\n`,
      }),
    coding: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/`, {
        method: "post",
        headers: [["transfer-encoding", "chunked"]],
        body: `0\r\n\r\nGET /${mark} HTTP/1.1\r\nHost: x\r\n\r\n`,
      }),
  },
  around: {
    second: ({ talk }, { granted }, mark) =>
      talk(granted, `GET / HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\n\r\n\nGET /${mark} HTTP/1.1\r\n\r\n`),
    value: ({ talk }, { granted }, mark) =>
      talk(granted, `GET / HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nx-a: 1\n${mark}: 1\r\n\r\n`),
  },
  through: {
    second: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/ HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nProxy-Authorization: ${gate.authorization}\r\n\r\n` +
          `GET /${mark} HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
    lengthAndCoding: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `POST http://127.0.0.1:${granted}/ HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nProxy-Authorization: ${gate.authorization}\r\n` +
          `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /${mark} HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
    lineFeed: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/ HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nProxy-Authorization: ${gate.authorization}\r\n` +
          `x-a: 1\n${mark}: 1\r\n\r\n`,
      ),
    nul: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/ HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nProxy-Authorization: ${gate.authorization}\r\n` +
          `x-a: \0\r\n ${mark}: 1\r\n\r\n`,
      ),
    target: ({ gate, talk }, { granted }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/\rHTTP/1.1\n${mark}: 1 HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\n` +
          `Proxy-Authorization: ${gate.authorization}\r\n\r\n`,
      ),
  },
  isOut: ({ granted = "" }, mark) => new RegExp(`\n ?(GET /)?${mark}`).test(granted),
};

/** The variables by which an operator's programs find a proxy, which here is the attacker's. */
export const proxyVariables: NetAttempt = {
  http: {
    request: ({ request }, { granted }, mark) => request(`http://127.0.0.1:${granted}/${mark}`),
  },
  sockets: {
    tcp: ({ connect, ipv4, writeText }, { tcp }, mark) => writeText(connect(ipv4([127, 0, 0, 1], tcp)).output, mark),
  },
  around: {
    fetch: (_, { granted }, mark) => fetch(`http://127.0.0.1:${granted}/${mark}`).then((answer) => answer.text()),
  },
  through: {
    ask: ({ ask }, { granted }, mark) => ask(`http://127.0.0.1:${granted}/${mark}`),
    tunnel: ({ tunnel }, { tcp }, mark) => tunnel("tcp", `127.0.0.1:${tcp}`, mark),
  },
  isMalformed: true,
  environment: ({ proxy }) => {
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    return Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy}`]));
  },
};

/** The gate of another run, and the own one with another's credential or none. */
export const otherCredential: NetAttempt = {
  http: {
    otherGate: ({ request }, { otherGate, other }, mark) =>
      request(`http://127.0.0.1:${otherGate.port}/`, {
        headers: [["proxy-authorization", otherGate.credential], ["x-to", `http://127.0.0.1:${other}/${mark}`]],
      }),
  },
  sockets: {
    otherGate: ({ connect, ipv4, writeText }, { otherGate, other }, mark) =>
      writeText(
        connect(ipv4([127, 0, 0, 1], otherGate.port)).output,
        `GET http://127.0.0.1:${other}/${mark} HTTP/1.1\r\nHost: 127.0.0.1:${other}\r\nProxy-Authorization: ${otherGate.credential}\r\n\r\n`,
      ),
  },
  around: {
    stolen: ({ talk }, { otherGate, other }, mark) =>
      talk(
        otherGate.port,
        `GET http://127.0.0.1:${other}/${mark} HTTP/1.1\r\nHost: 127.0.0.1:${other}\r\nProxy-Authorization: ${otherGate.credential}\r\n\r\n`,
      ),
  },
  through: {
    others: ({ gate, talk }, { otherGate, other }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${other}/${mark} HTTP/1.1\r\nHost: 127.0.0.1:${other}\r\nProxy-Authorization: ${otherGate.credential}\r\n\r\n`,
      ),
    none: ({ gate, talk }, { other }, mark) =>
      talk(gate.port, `GET http://127.0.0.1:${other}/${mark} HTTP/1.1\r\nHost: 127.0.0.1:${other}\r\n\r\n`),
    toGranted: ({ gate, talk }, { granted, otherGate }, mark) =>
      talk(
        gate.port,
        `GET http://127.0.0.1:${granted}/wrong-${mark} HTTP/1.1\r\nHost: 127.0.0.1:${granted}\r\nProxy-Authorization: ${otherGate.credential}\r\n\r\n`,
      ),
  },
  isOut: ({ other = "", granted = "" }, mark) => other.includes(mark) || granted.includes(`wrong-${mark}`),
};

/** Services of this machine that listen on no port. */
export const unixSockets: NetAttempt = {
  around: {
    outside: (_, { unix }, mark) =>
      Deno.connect({ transport: "unix", path: unix.outside }).then((to) => to.write(new TextEncoder().encode(mark))),
    inWork: (_, { unix }, mark) =>
      Deno.connect({ transport: "unix", path: unix.work }).then((to) => to.write(new TextEncoder().encode(mark))),
    proxy: async (_, { unix, granted }, mark) => {
      using client = Deno.createHttpClient({ proxy: { transport: "unix", path: unix.work } });
      await (await fetch(`http://127.0.0.1:${granted}/${mark}`, { client })).text();
    },
    node: async (_, { unix }, mark) => {
      const { connect } = await import("node:net");
      const socket = connect({ path: unix.work });
      await new Promise((settle, reject) =>
        socket.on("error", reject).on("data", settle).on("connect", () => socket.write(mark))
      );
      socket.destroy();
    },
    libc: ({ libc }, { unix }, mark) => {
      const descriptor = libc("socket", 1, 1, 0);
      const path = new TextEncoder().encode(unix.abstract);
      libc("connect", descriptor, new Uint8Array([1, 0, ...path]), 2 + path.length);
      const bytes = new TextEncoder().encode(mark);
      libc("write", descriptor, bytes, bytes.length);
      libc("close", descriptor);
    },
  },
  runtimeRefuses: {
    abstract: (_, { unix }, mark) =>
      Deno.connect({ transport: "unix", path: unix.abstract }).then((to) => to.write(new TextEncoder().encode(mark))),
    nodeAbstract: async (_, { unix }, mark) => {
      const { connect } = await import("node:net");
      const socket = connect({ path: unix.abstract });
      await new Promise((settle, reject) => socket.on("error", reject).on("connect", () => socket.write(mark, settle)));
    },
  },
};

/** Datagrams of QUIC, to the port of a granted place. */
export const quic: NetAttempt = {
  around: {
    operations: async ({ operations }, { granted }) => {
      const endpoint = operations.op_quic_endpoint_create!({ hostname: "::", port: 0 }, false, false, undefined);
      const to = { addr: { hostname: "127.0.0.1", port: granted }, caCerts: [], alpnProtocols: ["x"], serverName: "x" };
      const connecting = operations.op_quic_endpoint_connect!(endpoint, to, {}, operations.op_tls_key_null!());
      await operations.op_quic_connecting_1rtt!(connecting);
    },
  },
  // deno-lint-ignore no-control-regex -- a long header of version 1
  isOut: ({ quic = "" }) => /^[\xc0-\xff]\0\0\0\x01/.test(quic),
};

/** Datagrams. */
export const datagrams: NetAttempt = {
  sockets: {
    send: ({ datagrams, sendText, ipv4 }, { udp }, mark) =>
      sendText(datagrams().outgoing, mark, ipv4([127, 0, 0, 1], udp)),
  },
  isMalformed: true,
  around: {
    node: async (_, { udp }, mark) => {
      const { createSocket } = await import("node:dgram");
      const socket = createSocket("udp4");
      await new Promise((settle, reject) => {
        addEventListener("error", (event) => {
          event.preventDefault(); // a refused bind is thrown at nobody
          reject(event.error);
        }, { once: true });
        socket.on("error", reject).send(mark, udp, "127.0.0.1", settle);
      });
      socket.close();
    },
    libc: ({ libc }, { udp }, mark) => {
      const descriptor = libc("socket", 2, 2, 0);
      const bytes = new TextEncoder().encode(mark);
      const address = new Uint8Array([2, 0, udp >> 8, udp & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
      libc("sendto", descriptor, bytes, bytes.length, 0, address, 16);
      libc("close", descriptor);
    },
  },
};

/** A way in: what listens can be connected to by whoever is on this machine. */
export const listening: NetAttempt = {
  sockets: {
    listen: ({ listen, ipv4 }) => listen(ipv4([127, 0, 0, 1], 0)) !== undefined,
    listenHigh: ({ listen, ipv4 }) => listen(ipv4([0, 0, 0, 0], 47123)) !== undefined,
  },
  isMalformed: true,
  around: {
    deno: () => {
      using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      return listener.addr.port > 0;
    },
    node: async () => {
      const { createServer } = await import("node:net");
      const server = createServer();
      await new Promise<void>((settle, reject) => {
        addEventListener("error", (event) => {
          event.preventDefault(); // a refused bind is thrown at nobody
          reject(event.error);
        }, { once: true });
        server.on("error", reject).listen(0, "127.0.0.1", settle);
      });
      server.close();
      return true;
    },
    serve: async () => {
      await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response());
      return server.addr.port > 0;
    },
    inspector: async () => {
      const inspector = await import("node:inspector");
      inspector.open(0, "127.0.0.1");
      return inspector.url() !== undefined;
    },
    libc: ({ libc }) => {
      const descriptor = libc("socket", 2, 1, 0);
      return libc("listen", descriptor, 1) === 0 && libc("close", descriptor) === 0;
    },
  },
};
