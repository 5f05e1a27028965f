import { type Grants, narrow } from "../../grants/mod.ts";

/** Whether a tool has all that its capsule has, but for limits: a child that it asked for is measured by the capsule's. */
export function hasAllOf(tool: Grants, capsule: Grants): boolean {
  return authorityOf(tool) === authorityOf(capsule);
}

function authorityOf(grants: Grants): string {
  // Narrowed by itself, so that every list is in its one order.
  const { limits: _, ...authority } = narrow(grants, grants).grants;
  return JSON.stringify(authority);
}
