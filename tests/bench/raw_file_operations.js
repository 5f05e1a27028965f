// The same operations as file_operations.wat, made directly: `raw OPERATION COUNT FILE`.
const [operation, count, path] = Deno.args;
const file = Deno.openSync(path, { read: true, write: true });
const bytes = new Uint8Array(4096);
const operations = {
  open_and_close: () => Deno.openSync(path, { read: true, write: true }).close(),
  stat_path: () => Deno.lstatSync(path),
  read_file: () => Deno.readFileSync(path),
  write_file: () => {
    const opened = Deno.openSync(path, { read: true, write: true });
    opened.writeSync(bytes);
    opened.close();
  },
  read_4096: () => {
    file.seekSync(0, Deno.SeekMode.Start);
    file.readSync(bytes);
  },
  write_4096: () => {
    file.seekSync(0, Deno.SeekMode.Start);
    file.writeSync(bytes);
  },
};
const run = operations[operation];
for (let left = Number(count); left > 0; left--) run();
