/**
 * One executable, three roles: command line and supervisor by default; a cell when the parent says so in its
 * environment. Only the code of the role is loaded.
 */
if (Deno.env.get("BOLL_CHILD") === "cell") {
  const { runCell } = await import("./src/guest/cell_main.ts");
  await runCell();
} else {
  const { main } = await import("./src/cli/main.ts");
  Deno.exit(await main(Deno.args));
}
