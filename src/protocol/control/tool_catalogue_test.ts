import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { matchesTool, ToolCatalogue, type ToolDef } from "./mod.ts";

const tool = (name: string): ToolDef => ({ name, input_schema: true });
const namesOf = (catalogue: ToolCatalogue) => catalogue.offered.map(({ name }) => name);

Deno.test("ToolCatalogue: shows what the grant allows, and finds exactly that", () => {
  const catalogue = new ToolCatalogue(["delegate-task", "files__read*"], [tool("delegate-task"), tool("finish")]);
  catalogue.replace("files", [tool("read"), tool("read-all"), tool("write")]);
  assertEquals(namesOf(catalogue), ["delegate-task", "files__read", "files__read-all"]);
  assertEquals(catalogue.find("files__read"), { name: "files__read", server: "files", tool: tool("read") });
  for (const hidden of ["finish", "files__write", "read", "nothing"]) assertEquals(catalogue.find(hidden), undefined);
});

Deno.test("ToolCatalogue: absent is not narrowed, none is nothing, and both stay so when a list changes", () => {
  const [all, none] = [new ToolCatalogue(undefined, [tool("own")]), new ToolCatalogue([], [tool("own")])];
  for (const catalogue of [all, none]) catalogue.replace("files", [tool("read")]);
  assertEquals([namesOf(all), namesOf(none)], [["own", "files__read"], []]);
  for (const catalogue of [all, none]) catalogue.replace("files", [tool("write")]);
  assertEquals([namesOf(all), namesOf(none)], [["own", "files__write"], []]);
});

Deno.test("ToolCatalogue.replace: a list that changes adds what is granted, takes away what is gone, and widens nothing", () => {
  const catalogue = new ToolCatalogue(["files__read*"]);
  catalogue.replace("files", [tool("read"), tool("write")]);
  catalogue.replace("files", [tool("read-all"), tool("write"), tool("delete")]);
  assertEquals(namesOf(catalogue), ["files__read-all"]);
  for (const hidden of ["files__read", "files__write", "files__delete"]) {
    assertEquals(catalogue.find(hidden), undefined);
  }
  catalogue.replace("files", []);
  assertEquals(namesOf(catalogue), []);
});

Deno.test("ToolCatalogue.replace: no list takes a name from the session itself, nor from a server before it", () => {
  const catalogue = new ToolCatalogue(undefined, [tool("a__own")]);
  catalogue.replace("a", [tool("b__c")]);
  catalogue.replace("a__b", [tool("c")]);
  catalogue.replace("a", [tool("b__c"), tool("own"), tool("own")]);
  assertEquals(catalogue.find("a__own")?.server, undefined);
  assertEquals(catalogue.find("a__b__c")?.server, "a");
  assertEquals(namesOf(catalogue), ["a__own", "a__b__c"]);
});

Deno.test("ToolCatalogue: whatever lists come in whatever order, nothing is offered that the grant does not match", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", "_", "*"), maxLength: 4 });
  const change = fc.tuple(name, fc.array(name.map(tool), { maxLength: 4 }));
  const patterns = fc.array(name, { maxLength: 3 });
  fc.assert(fc.property(patterns, fc.array(name.map(tool)), fc.array(change), (patterns, own, changes) => {
    const catalogue = new ToolCatalogue(patterns, own);
    for (const [server, tools] of changes) catalogue.replace(server, tools);
    for (const offered of catalogue.offered) {
      assert(matchesTool(patterns, offered.name));
      assertEquals(catalogue.find(offered.name), offered);
    }
    assertEquals(new Set(namesOf(catalogue)).size, catalogue.offered.length);
  }));
});
