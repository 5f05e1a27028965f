// Requests by `fetch` alone, bodies read: `plain-requests URL COUNT PARALLEL`.
const [url, count, parallel] = Deno.args;
for (let left = Number(count); left > 0; left -= Number(parallel)) {
  await Promise.all(Array.from({ length: Number(parallel) }, async () => await (await fetch(url)).text()));
}
