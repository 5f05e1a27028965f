import { assert, assertEquals } from "@std/assert";
import { bareOptions } from "./host_fixture.ts";
import { delegationImports } from "./delegation.ts";
import { createWasi } from "./mod.ts";

const WIT = new URL("../../capsules/wit/deps/", import.meta.url);

/** What a component calls itself and no host serves. */
const EXPORTS = ["wasi:cli/run", "boll:capsule/tool"];

interface WitFunction {
  readonly interface: string;
  /** Of a method; absent for a function of the interface itself. */
  readonly resource?: string;
  readonly name: string;
}

/** Every function and method that a package declares, line by line. */
function readFunctions(text: string): WitFunction[] {
  const [, packageName] = /^package ([a-z:-]+)/m.exec(text)!;
  const found: WitFunction[] = [];
  let [name, resource] = ["", undefined as string | undefined];
  for (const line of text.split("\n")) {
    const opened = /^interface ([a-z0-9-]+) \{/.exec(line);
    const inside = /^ +resource ([a-z0-9-]+)/.exec(line);
    const declared = /^( +)%?([a-z0-9-]+): (?:static )?func\b/.exec(line);
    if (opened) [name, resource] = [`${packageName}/${opened[1]}`, undefined];
    else if (inside) resource = inside[1]!;
    else if (/^ {0,2}\}/.test(line)) resource = undefined;
    else if (declared && name !== "") {
      found.push({ interface: name, name: camel(declared[2]!), ...(resource === undefined ? {} : { resource }) });
    }
  }
  return found;
}

const camel = (name: string) => name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const pascal = (name: string) => camel(`-${name}`);

const PACKAGES = { cli: 11, clocks: 6, filesystem: 30, io: 19, random: 5, "boll-capsule": 7 };

for (const [name, count] of Object.entries(PACKAGES)) {
  Deno.test(`createWasi: serves every function and method of the package ${name}`, () => {
    const delegation = delegationImports(() => Promise.reject(new Error("not called")));
    const { imports } = createWasi({ ...bareOptions(), delegation });
    const functions = readFunctions(Deno.readTextFileSync(new URL(`${name}.wit`, WIT)))
      .filter((one) => !EXPORTS.includes(one.interface));
    assertEquals(functions.length, count);
    for (const { interface: at, resource, name } of functions) {
      const object = imports[at];
      assert(object !== undefined, at);
      if (resource === undefined) {
        assertEquals(typeof object[name], "function", `${at} ${name}`);
        continue;
      }
      const type = object[pascal(resource)] as (new () => unknown) & Record<string, unknown> | undefined;
      assertEquals(typeof type, "function", `${at} ${resource}`);
      assertEquals(typeof (type!.prototype[name] ?? type![name]), "function", `${at} ${resource} ${name}`);
    }
  });
}
