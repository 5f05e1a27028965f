import type { Workspace } from "./manifest.ts";
/** STUB: nearest first */
export function findWorkspaces(startDir: string): Promise<readonly Workspace[]> {
  return Promise.reject(new Error(startDir));
}
/** STUB */
export function findWorkspace(startDir: string): Promise<Workspace | undefined> {
  return Promise.reject(new Error(startDir));
}
/** STUB */
export function readWorkspace(path: string): Promise<Workspace> {
  return Promise.reject(new Error(path));
}
