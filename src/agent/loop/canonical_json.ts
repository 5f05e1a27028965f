/** JSON text with the keys of every object sorted: equal values have equal texts. The value nests as deep as JSON from a model may. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort();
  // Not an object: integer-like keys would be moved to its front, and `__proto__` would vanish.
  return { object: keys.map((key) => [key, sorted((value as Record<string, unknown>)[key])]) };
}
