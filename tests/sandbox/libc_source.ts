import { KERNEL_CALLS } from "./kernel_calls.ts";

/** Source that binds what injected code may use beside Deno: `libc`, `kernel`, `reaches`, `addressOf`, `operations`. */
export const LIBC = `
    const toBytes = (value) => typeof value === "string" ? new TextEncoder().encode(value + "\\0") : value;
    const isWord = (value) => typeof value === "number";
    const typesOf = (values) => values.map((value) => isWord(value) ? "i64" : "buffer");
    const toWords = (values) => values.map((value) => isWord(value) ? BigInt(value) : toBytes(value));
    const libc = (name, ...values) => {
      const types = { parameters: typesOf(values), result: name === "getenv" ? "i64" : "i32" };
      const answer = Number(Deno.dlopen("libc.so.6", { [name]: types }).symbols[name](...toWords(values)));
      if (answer === -1) throw new Error("libc " + name + " refused");
      return answer;
    };
    const numbers = ${JSON.stringify(KERNEL_CALLS)};
    const kernel = (name, ...values) => {
      const { symbols } = Deno.dlopen("libc.so.6", {
        syscall: { parameters: ["i64", ...typesOf(values)], result: "i64" },
        __errno_location: { parameters: [], result: "pointer" },
      });
      const answer = Number(symbols.syscall(BigInt(numbers[name]), ...toWords(values)));
      if (answer !== -1) return answer;
      const errno = new Deno.UnsafePointerView(symbols.__errno_location()).getInt32();
      throw Object.assign(new Error("kernel " + name + " gave errno " + errno), { errno });
    };
    const reaches = (name, ...values) => {
      try {
        kernel(name, ...values);
      } catch (error) {
        if (error.errno === 38) throw "absent";
        if (error.errno === undefined || error.errno === 1) throw error;
      }
      return true;
    };
    const addressOf = (bytes) => BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes)));
    const { ops: operations } = Deno[Deno.internal].core;`;
