import { relative, sep } from 'node:path'

/** A real path as the record has it: relative to the workspace, `/` between names, '' for itself. */
export function workspaceRelative(workspace: string, path: string): string {
  return relative(workspace, path).split(sep).join('/')
}
