// What `Deno.serve` does alone: the text of `capsules/hello-http`; `plain-server PORT`.
const text = "Hello, world!\n";
Deno.serve({
  hostname: "127.0.0.1",
  port: Number(Deno.args[0]),
  onListen: ({ port }) => console.log(`listening on http://127.0.0.1:${port}`),
}, () => new Response(text));
