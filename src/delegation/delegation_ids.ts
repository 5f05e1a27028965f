import { newId } from "../base/mod.ts";

/** The delegation ids that one launcher has minted: one per launch, so that no caller can make two launches share one. */
export class DelegationIds {
  readonly #minted = new Set<string>();

  mint(): string {
    const id = newId("dlg");
    this.#minted.add(id);
    return id;
  }

  /** Whether the id is one of them: any other never names a file. */
  has(id: string): boolean {
    return this.#minted.has(id);
  }
}
