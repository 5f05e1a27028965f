/**
 * One executable, three roles: command line and supervisor by default; a session or a cell when the parent says so in its
 * environment. Only the code of the role is loaded.
 */
const child = Deno.env.get("BOLL_CHILD");
if (child === "cell") {
  const { runCell } = await import("./src/guest/cell_main.ts");
  await runCell();
} else if (child === "session") {
  const { beSession } = await import("./src/agent/session_main.ts");
  await beSession();
} else {
  const { main } = await import("./src/cli/main.ts");
  Deno.exit(await main(Deno.args));
}
