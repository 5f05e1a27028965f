// The same operations as file_operations.wat, made directly, in a thread scoped to the folder as a guest's is, with one
// buffer for all: `raw OPERATION COUNT FOLDER`.
const [operation, count, folder] = Deno.args;
const isThread = "postMessage" in globalThis;
if (!isThread) await runInThread();

async function runInThread() {
  const none = { net: false, env: false, run: false, ffi: false, sys: false, import: false };
  const worker = new Worker(new URL("./main.js", import.meta.url), {
    type: "module",
    deno: { permissions: { read: [folder], write: [folder], ...none } },
  });
  await new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = resolve;
    worker.postMessage({ operation, count: Number(count), folder });
  });
  worker.terminate();
}

globalThis.onmessage = ({ data: { operation, count, folder } }) => {
  const run = operationsIn(folder)[operation];
  for (let left = count; left > 0; left--) run();
  globalThis.postMessage("done");
};

function operationsIn(folder) {
  const path = `${folder}/bench.bin`;
  const deep = `${folder}/a/b/c/bench.bin`;
  const both = { read: true, write: true };
  const file = Deno.openSync(path, both);
  const bytes = new Uint8Array(4096);
  return {
    open_and_close: () => Deno.openSync(path, both).close(),
    open_and_close_deep: () => Deno.openSync(deep, both).close(),
    stat_path: () => Deno.statSync(path),
    stat_path_deep: () => Deno.statSync(deep),
    read_file: () => {
      const opened = Deno.openSync(path, both);
      opened.readSync(bytes);
      opened.close();
    },
    write_file: () => {
      const opened = Deno.openSync(path, both);
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
}
