import { getArguments } from "wasi:cli/environment@0.2.12";
import { printError, printLine } from "../../wasi/stdio.js";

/** `hello [NAME] [TIMES]`: greets NAME, TIMES times. */
export const run = {
  run() {
    const [name = "world", times = "1"] = getArguments().slice(1);
    if (!/^[1-9][0-9]{0,2}$/.test(times)) {
      printError(`hello: TIMES: found "${times}", wanted a number from 1 to 999`);
      throw "usage";
    }
    for (let count = 1; count <= Number(times); count++) {
      printLine(times === "1" ? `Hello, ${name}!` : `${count}. Hello, ${name}!`);
    }
  },
};
