/**
 * Lint plugin that holds the source to the table in `rooms.ts`: `boll/room-imports` (who imports whom),
 * `boll/room-names` (every file in a room, no empty names), `boll/sharp-tools` (what only one room may use) and
 * `boll/own-path` (a path beside a module that also holds in a folder with a space).
 * Tests (`*_test.ts`, `*_fixture.ts`, `tests/`) and the workshop (`.ci/`) are free of the first and the third.
 * @module
 */
import { dirname, isAbsolute, join, relative } from "@std/path";
import { EMPTY_NAMES, ROLE_ENTRIES, ROOMS, SHARP_GLOBALS, SHARP_MODULES, SIDE_DOORS } from "./rooms.ts";

const REPOSITORY = join(import.meta.dirname!, "..");

type Place =
  | { readonly kind: "main" }
  | { readonly kind: "room"; readonly room: string }
  | { readonly kind: "capsule" }
  | { readonly kind: "free" };

/** Where a file stands, from its path below the repository's root. */
function placeOf(path: string): Place {
  const [top, room, rest] = path.split("/");
  if (isOfTests(path)) return { kind: "free" };
  if (path === "main.ts") return { kind: "main" };
  if (top === "capsules") return { kind: "capsule" };
  if (top !== "src" || room === "std" || rest === undefined) return { kind: "free" };
  return { kind: "room", room: room! };
}

/** Tests, and the programs that they start. */
function isOfTests(path: string): boolean {
  return /_(test|fixture)\.ts$/.test(path);
}

function pathOf(context: Deno.lint.RuleContext): string {
  return isAbsolute(context.filename) ? relative(REPOSITORY, context.filename) : context.filename;
}

/** What is wrong with importing `specifier` from `path`, in one sentence; undefined when nothing is. */
function refuseImport(path: string, specifier: string, dynamic: boolean): string | undefined {
  const place = placeOf(path);
  if (place.kind === "free") return undefined;
  if (!/^\.\.?\//.test(specifier)) return place.kind === "room" ? refuseModule(place.room, specifier) : undefined;
  const target = join(dirname(path), specifier);
  if (place.kind === "capsule") {
    return target.startsWith("capsules/") ? undefined : `found ${target}, wanted nothing from outside capsules/`;
  }
  if (place.kind === "main") {
    const isRole = dynamic && ROLE_ENTRIES.includes(target);
    return isRole ? undefined : `found ${target}, wanted import() of a role entry (${ROLE_ENTRIES.join(", ")})`;
  }
  return refuseRoomImport(place.room, target);
}

function refuseRoomImport(room: string, target: string): string | undefined {
  const [top, targetRoom] = target.split("/");
  if (isOfTests(target)) return `found ${target}, wanted nothing that only tests use`;
  if (target.startsWith(`src/${room}/`) || SIDE_DOORS[target]?.includes(room)) return undefined;
  if (top !== "src") return `found ${target}, wanted a room in src/`;
  if (targetRoom === "std") return `found ${target}, wanted the name @std/…`;
  const allowed = ROOMS[room] ?? [];
  if (!allowed.includes(targetRoom!)) {
    return `found src/${targetRoom}/, wanted ${allowed.join(", ") || "no other room"} from src/${room}/`;
  }
  return target === `src/${targetRoom}/mod.ts` ? undefined : `found ${target}, wanted src/${targetRoom}/mod.ts`;
}

function refuseModule(room: string, specifier: string): string | undefined {
  if (specifier.startsWith("deno-std/")) return `found ${specifier}, wanted the name @std/…`;
  const name = Object.keys(SHARP_MODULES).find((name) => specifier === name || specifier.startsWith(`${name}/`));
  if (name === undefined || SHARP_MODULES[name] === room) return undefined;
  return `found ${specifier}, wanted it ${whereAllowed(SHARP_MODULES[name]!)}`;
}

function whereAllowed(rooms: string | readonly string[] | null): string {
  return rooms === null ? "nowhere in src/" : `in ${[rooms].flat().map((room) => `src/${room}/`).join(" or ")} alone`;
}

const roomImports: Deno.lint.Rule = {
  create(context) {
    const path = pathOf(context);
    const check = (node: Deno.lint.Node, source: Deno.lint.Node | null, dynamic = false) => {
      if (source === null) return;
      const specifier = source.type === "Literal" && typeof source.value === "string" ? source.value : undefined;
      const wrong = specifier !== undefined
        ? refuseImport(path, specifier, dynamic)
        : placeOf(path).kind === "free"
        ? undefined
        : "found a computed name, wanted a string literal: the executable resolves imports when it is built";
      if (wrong) context.report({ node, message: `Import across rooms: ${wrong}` });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source, true),
      TSImportType: (node) =>
        check(node, node.argument.type === "TSLiteralType" ? node.argument.literal : node.argument),
    };
  },
};

const roomNames: Deno.lint.Rule = {
  create(context) {
    return {
      Program(node) {
        const path = pathOf(context);
        const empty = path.split("/").find((part) => EMPTY_NAMES.has(part.replace(/(_test)?\.[a-z]+$/, "")));
        if (empty) {
          context.report({ node, message: `Name a file: found ${empty} in ${path}, wanted the name of what it holds` });
        }
        const [top, room, rest] = path.split("/");
        if (top !== "src" || room === "std" || (rest !== undefined && Object.hasOwn(ROOMS, room!))) return;
        const rooms = Object.keys(ROOMS).join(", ");
        context.report({ node, message: `Place a file: found ${path}, wanted it in a room of src/ (${rooms})` });
      },
    };
  },
};

const sharpTools: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(pathOf(context));
    if (place.kind === "free" || place.kind === "capsule") return {};
    const room = place.kind === "room" ? place.room : "main.ts";
    const check = (node: Deno.lint.Node, name: string) => {
      if (!Object.hasOwn(SHARP_GLOBALS, name) || [SHARP_GLOBALS[name]].flat().includes(room)) return;
      context.report({
        node,
        message: `Use ${name}: found it in ${room}, wanted it ${whereAllowed(SHARP_GLOBALS[name]!)}`,
      });
    };
    const checkCallee = (node: Deno.lint.CallExpression | Deno.lint.NewExpression) => {
      if (node.callee.type === "Identifier") check(node, node.callee.name);
    };
    return {
      CallExpression: checkCallee,
      NewExpression: checkCallee,
      MemberExpression(node) {
        if (node.object.type !== "Identifier") return;
        const property = node.property.type === "Identifier" && !node.computed
          ? node.property.name
          : node.property.type === "Literal"
          ? String(node.property.value)
          : "";
        if (node.object.name === "Deno") check(node, `Deno.${property}`);
        if (node.object.name === "globalThis" || node.object.name === "self") check(node, property);
      },
    };
  },
};

/** `new URL("x", import.meta.url).pathname` is no path where the checkout's own has a space or an umlaut. */
const ownPath: Deno.lint.Rule = {
  create(context) {
    return {
      MemberExpression(node) {
        if (node.property.type !== "Identifier" || node.property.name !== "pathname") return;
        if (node.object.type !== "NewExpression" || !context.sourceCode.getText(node).includes("import.meta.url")) {
          return;
        }
        const message =
          "Name a file beside this one: found the pathname of a URL, wanted join(import.meta.dirname!, …)";
        context.report({ node, message });
      },
    };
  },
};

const plugin: Deno.lint.Plugin = {
  name: "boll",
  rules: { "room-imports": roomImports, "room-names": roomNames, "sharp-tools": sharpTools, "own-path": ownPath },
};
export default plugin;
