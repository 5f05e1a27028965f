import { CapsuleError, printableLine } from "../base/mod.ts";

/** The longest name between components, bytes. */
export const MAX_NAME_BYTES = 256;
/** The longest import or export name of a core module, bytes (mangled C++ symbols are long). */
export const MAX_CORE_NAME_BYTES = 4096;
/** The most names a component may have in all, its core modules' counted too. */
export const MAX_NAMES = 50_000;

const FRAGMENT = "(?:[a-z][a-z0-9]*|[A-Z][A-Z0-9]*)";
const LABEL = `${FRAGMENT}(?:-(?:[a-z0-9]+|[A-Z0-9]+))*`;
const LABEL_ONLY = new RegExp(`^${LABEL}$`);
const FUNCTION = new RegExp(`^(?:\\[constructor\\]${LABEL}|\\[(?:method|static)\\]${LABEL}\\.${LABEL}|${LABEL})$`);
const INTERFACE = new RegExp(`^${LABEL}:${LABEL}/${LABEL}(?:@[0-9]+\\.[0-9]+\\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?)?$`);
/** Printable ASCII without what could end a string, a comment or a statement, or call something. */
const CORE = /^[A-Za-z0-9_$.:/@#|<>,[\]*&~!?+%^ -]*$/;

/** Counts the names of one component and refuses what falls outside the grammars below. */
export class NameCheck {
  #count = 0;

  /** A record field, case, flag or parameter: `kebab-case`. @throws component.invalid | component.too_large */
  label(name: string): string {
    return this.#check(LABEL_ONLY.test(name), name, "a kebab-case name");
  }

  /** A function, type, resource member or interface, as WIT names them. @throws component.invalid | component.too_large */
  external(name: string): string {
    return this.#check(FUNCTION.test(name) || INTERFACE.test(name), name, "a WIT name (a-b, [method]a.b, a:b/c@1.0.0)");
  }

  /** An import or export name of a core module. @throws component.invalid | component.too_large */
  core(name: string): string {
    const safe = CORE.test(name) && name !== "__proto__" && !name.includes("*/") && !name.includes("//");
    return this.#check(safe, name, "printable ASCII without quotes, brackets of a call, or __proto__");
  }

  #check(ok: boolean, name: string, wanted: string): string {
    if (!ok) {
      throw new CapsuleError(
        "component.invalid",
        `Check names: found "${printableLine(name, 80)}" (${name.length} characters), wanted ${wanted}`,
      );
    }
    if (++this.#count > MAX_NAMES) {
      throw new CapsuleError("component.too_large", `Check names: found more than ${MAX_NAMES} names in the component`);
    }
    return name;
  }
}
