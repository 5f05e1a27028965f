import type { CachedComponent } from "../../component/mod.ts";
import { type FolderLock, holdCacheEntry } from "../../records/mod.ts";

/** A component whose place in the cache no `gc` takes until it is released. */
export interface HeldComponent {
  readonly component: CachedComponent;
  [Symbol.dispose](): void;
}

const MAX_TURNS = 20;

/** Prepares a component and holds its place in the cache; once more when a `gc` came in between. */
export async function holdComponent(prepare: () => Promise<CachedComponent>): Promise<HeldComponent> {
  for (let turn = 1;; turn++) {
    const component = await prepare();
    const lock = tryHold(component.dir);
    if (lock === undefined && turn < MAX_TURNS) continue;
    return { component, [Symbol.dispose]: () => lock?.release() };
  }
}

/** Where folders have no locks nothing is held, and nothing is collected. */
function tryHold(folder: string): FolderLock | { release(): void } | undefined {
  try {
    return holdCacheEntry(folder);
  } catch {
    return { release() {} };
  }
}
