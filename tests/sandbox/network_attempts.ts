/** Attempts to reach what is not granted: hosts, ports, schemes, addresses, names. */
import type { NetAttempt } from "./network_attempt.ts";

/** A host of no entry, at a port that one has. */
export const unlistedHost: NetAttempt = {
  http: {
    plain: ({ request }, { granted }, mark) => request(`http://127.0.0.2:${granted}/${mark}`),
    disguised: ({ request }, { granted }, mark) => request(`http://127.0.0.1:${granted}@127.0.0.2:${granted}/${mark}`),
    mapped: ({ request }, { granted }, mark) => request(`http://[::ffff:7f00:2]:${granted}/${mark}`),
  },
  sockets: {
    tcp: ({ connect, ipv4, writeText }, { granted }, mark) =>
      writeText(connect(ipv4([127, 0, 0, 2], granted)).output, mark),
  },
  around: {
    fetch: (_, { granted }, mark) => fetch(`http://127.0.0.2:${granted}/${mark}`).then((answer) => answer.text()),
    deno: ({ talk }, { granted }, mark) => talk({ hostname: "127.0.0.2", port: granted }, mark),
    node: async (_, { granted }, mark) => {
      const { connect } = await import("node:net");
      const socket = connect(granted, "127.0.0.2");
      await new Promise((settle, reject) =>
        socket.on("error", reject).on("data", settle).on("connect", () => socket.write(mark))
      );
      socket.destroy();
    },
  },
  through: {
    ask: ({ ask }, { granted }, mark) => ask(`http://127.0.0.2:${granted}/${mark}`),
    tunnel: ({ tunnel }, { granted }, mark) => tunnel("tcp", `127.0.0.2:${granted}`, mark),
    tunnelForTls: ({ tunnel }, { granted }, mark) => tunnel("https", `127.0.0.2:${granted}`, mark),
  },
};

/** A port of no entry, on a host that one has: any other service of this machine. */
export const unlistedPort: NetAttempt = {
  http: {
    plain: ({ request }, { other }, mark) => request(`http://127.0.0.1:${other}/${mark}`),
    gate: ({ request }, { otherGate }, mark) => request(`http://127.0.0.1:${otherGate.port}/${mark}`),
  },
  sockets: {
    tcp: ({ connect, ipv4, writeText }, { other }, mark) =>
      writeText(connect(ipv4([127, 0, 0, 1], other)).output, mark),
  },
  around: {
    fetch: (_, { other }, mark) => fetch(`http://127.0.0.1:${other}/${mark}`).then((answer) => answer.text()),
    deno: ({ talk }, { other }, mark) => talk(other, mark),
    webSocket: (_, { other }, mark) =>
      new Promise((settle) => {
        const socket = new WebSocket(`ws://127.0.0.1:${other}/${mark}`);
        socket.onerror = settle;
        socket.onclose = settle;
      }),
    events: (_, { other }, mark) =>
      new Promise<void>((settle) => {
        const source = new EventSource(`http://127.0.0.1:${other}/${mark}`);
        source.onerror = () => {
          source.close();
          settle();
        };
      }),
    proxy: async (_, { granted, other }, mark) => {
      using client = Deno.createHttpClient({ proxy: { url: `http://127.0.0.1:${other}` } });
      await (await fetch(`http://127.0.0.1:${granted}/${mark}`, { client })).text();
    },
    fastOpen: ({ libc }, { other }, mark) => {
      const descriptor = libc("socket", 2, 1, 0);
      const bytes = new TextEncoder().encode(mark);
      const address = new Uint8Array([2, 0, other >> 8, other & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
      libc("sendto", descriptor, bytes, bytes.length, 0x20000000, address, 16);
      libc("close", descriptor);
    },
  },
  through: {
    ask: ({ ask }, { other }, mark) => ask(`http://127.0.0.1:${other}/${mark}`),
    tunnel: ({ tunnel }, { other }, mark) => tunnel("tcp", `127.0.0.1:${other}`, mark),
  },
  runtimeRefuses: {
    import: (_, { other }, mark) => import(`http://127.0.0.1:${other}/${mark}.js`),
    operation: ({ operations }, { other }, mark) => operations.op_import_sync!(`http://127.0.0.1:${other}/${mark}.js`),
  },
};

/** Another scheme than the entry's, at its host and port. */
export const unlistedScheme: NetAttempt = {
  http: {
    plainToTls: ({ request }, { tls }, mark) => request(`http://127.0.0.1:${tls}/${mark}`),
    plainToTcp: ({ request }, { tcp }, mark) => request(`http://127.0.0.1:${tcp}/${mark}`),
  },
  sockets: {
    tcpToTls: ({ connect, ipv4, writeText }, { tls }, mark) =>
      writeText(connect(ipv4([127, 0, 0, 1], tls)).output, mark),
  },
  around: {
    plainToTls: (_, { tls }, mark) => fetch(`http://127.0.0.1:${tls}/${mark}`).then((answer) => answer.text()),
    tcpToTls: ({ talk }, { tls }, mark) => talk(tls, mark),
    plainToTcp: (_, { tcp }, mark) => fetch(`http://127.0.0.1:${tcp}/${mark}`).then((answer) => answer.text()),
  },
  through: {
    plainToTls: ({ ask }, { tls }, mark) => ask(`http://127.0.0.1:${tls}/${mark}`),
    tcpToTls: ({ tunnel }, { tls }, mark) => tunnel("tcp", `127.0.0.1:${tls}`, mark),
    plainToTcp: ({ ask }, { tcp }, mark) => ask(`http://127.0.0.1:${tcp}/${mark}`),
  },
  isOut: ({ tls = "", tcp = "" }, mark) => tls.includes(mark) || tcp.includes(`GET /${mark}`),
};

/** A granted name whose address is inside: this machine, its network, the cloud's metadata; also from one look-up to the next. */
export const nameOfInside: NetAttempt = {
  needsNames: true,
  httpBehindGate: {
    metadata: ({ request }, { inside }, mark) => request(`http://meta-${mark}.granted.test:${inside}/${mark}`),
    private: ({ request }, { inside }, mark) => request(`http://ten-${mark}.granted.test:${inside}/${mark}`),
  },
  http: {
    v4: ({ request }, { inside }, mark) => request(`http://v4-${mark}.granted.test:${inside}/${mark}`),
    v6: ({ request }, { inside }, mark) => request(`http://v6-${mark}.granted.test:${inside}/${mark}`),
    mapped: ({ request }, { inside }, mark) => request(`http://mapped-${mark}.granted.test:${inside}/${mark}`),
    redirect: ({ request }, { granted, inside }, mark) =>
      request(`http://127.0.0.1:${granted}/to?http://v4-${mark}.granted.test:${inside}/${mark}`),
  },
  around: {
    v4: (_, { inside }, mark) => fetch(`http://v4-${mark}.granted.test:${inside}/${mark}`).then((got) => got.text()),
    v6: ({ talk }, { inside }, mark) => talk({ hostname: `v6-${mark}.granted.test`, port: inside }, mark),
    mapped: ({ talk }, { inside }, mark) => talk({ hostname: `mapped-${mark}.granted.test`, port: inside }, mark),
  },
  through: {
    v4: ({ ask }, { inside }, mark) => ask(`http://v4-${mark}.granted.test:${inside}/${mark}`),
    v6: ({ ask }, { inside }, mark) => ask(`http://v6-${mark}.granted.test:${inside}/${mark}`),
    mapped: ({ ask }, { inside }, mark) => ask(`http://mapped-${mark}.granted.test:${inside}/${mark}`),
    changing: async ({ ask, resolveName }, { inside }, mark) => {
      await resolveName(`changing-${mark}.granted.test`);
      await ask(`http://changing-${mark}.granted.test:${inside}/${mark}`);
    },
    learnt: async ({ ask, resolveName }, { inside }, mark) => {
      await resolveName(`v4-${mark}.granted.test`);
      await ask(`http://127.0.0.1:${inside}/${mark}`);
    },
  },
};

/** A question about a name that is not granted tells whoever answers it what is in the name. */
export const namesAsChannel: NetAttempt = {
  needsNames: true,
  http: {
    request: ({ request }, { granted }, mark) => request(`http://${mark}.out.test:${granted}/`),
    redirect: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/to?http://${mark}.out.test:${granted}/`),
  },
  sockets: {
    lookUp: ({ lookUp }, _, mark) => lookUp(`${mark}.out.test`),
    suffix: ({ lookUp }, _, mark) => lookUp(`${mark}.granted.test.out.test`),
  },
  around: {
    connect: ({ talk }, { granted }, mark) => talk({ hostname: `${mark}.out.test`, port: granted }, ""),
    fetch: (_, { granted }, mark) => fetch(`http://${mark}.out.test:${granted}/`),
    resolve: (_, __, mark) => Deno.resolveDns(`${mark}.out.test`, "A"),
    server: (_, { nameServer }, mark) =>
      Deno.resolveDns(`${mark}.out.test.`, "A", { nameServer: { ipAddr: nameServer!, port: 53 } }),
    lookUp: async (_, __, mark) => await (await import("node:dns")).promises.lookup(`${mark}.out.test`),
    node: async (_, __, mark) => await (await import("node:dns")).promises.resolve4(`${mark}.out.test`),
    libc: ({ libc }, _, mark) => libc("gethostbyname", `${mark}.out.test`),
  },
  through: {
    lookUp: ({ resolveName }, _, mark) => resolveName(`${mark}.out.test`),
    ask: ({ ask }, { granted }, mark) => ask(`http://${mark}.out.test:${granted}/`),
    tunnel: ({ tunnel }, { granted }, mark) => tunnel("https", `${mark}.out.test:${granted}`, ""),
  },
  isOut: ({ names = "" }, mark) =>
    names.split("\n").some((name) => name.includes(mark) && !name.endsWith(".granted.test")),
};

/** A granted place that sends the guest on. */
export const redirect: NetAttempt = {
  http: {
    toPort: ({ request }, { granted, other }, mark) =>
      request(`http://127.0.0.1:${granted}/to?http://127.0.0.1:${other}/${mark}`),
    toHost: ({ request }, { granted }, mark) =>
      request(`http://127.0.0.1:${granted}/to?http://127.0.0.2:${granted}/${mark}`),
    toScheme: ({ request }, { granted, tls }, mark) =>
      request(`http://127.0.0.1:${granted}/to?http://127.0.0.1:${tls}/${mark}`),
    toGate: ({ request }, { granted, otherGate }, mark) =>
      request(`http://127.0.0.1:${granted}/to?http://127.0.0.1:${otherGate.port}/${mark}`),
  },
  around: {
    toPort: (_, { granted, other }, mark) =>
      fetch(`http://127.0.0.1:${granted}/to?http://127.0.0.1:${other}/${mark}`).then((answer) => answer.text()),
    toHost: (_, { granted }, mark) =>
      fetch(`http://127.0.0.1:${granted}/to?http://127.0.0.2:${granted}/${mark}`).then((answer) => answer.text()),
  },
  through: {
    followed: async ({ gate }, { granted, other }, mark) => {
      const proxy = { url: `http://127.0.0.1:${gate.port}` };
      const headers = { "proxy-authorization": gate.authorization };
      using client = Deno.createHttpClient({ proxy });
      const url = `http://127.0.0.1:${granted}/to?http://127.0.0.1:${other}/${mark}`;
      await (await fetch(url, { client, headers })).text();
    },
  },
};
