// An empty program that stays: it says that it is up and waits.
Deno.stdout.writeSync(new Uint8Array([10]));
setInterval(() => {}, 3_600_000);
