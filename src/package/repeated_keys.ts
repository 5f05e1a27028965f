/** A string, or what gives JSON its structure; numbers, names and spaces lie between. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/**
 * Dotted paths of keys that stand twice in one object of a JSON text, in its order. `JSON.parse` keeps the last of them
 * and says nothing, and a merge that took both sides' lines leaves exactly such a text.
 */
export function findRepeatedKeys(json: string): string[] {
  const repeated: string[] = [];
  const open: { readonly path: string; readonly keys: Set<string> }[] = [];
  let last = "";
  let key = "";
  for (const [token] of json.matchAll(TOKEN)) {
    const object = open.at(-1);
    if (token === ":" && object !== undefined) {
      key = String(JSON.parse(last));
      const path = object.path === "" ? key : `${object.path}.${key}`;
      if (object.keys.has(key)) repeated.push(path);
      object.keys.add(key);
    } else if (token === "{" || token === "[") {
      const below = object === undefined ? "" : object.path === "" ? key : `${object.path}.${key}`;
      open.push({ path: below, keys: new Set() });
    } else if (token === "}" || token === "]") open.pop();
    last = token;
  }
  return repeated;
}
