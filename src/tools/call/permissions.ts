import type { Settings } from '../../core/settings.ts'
import { readsOnly } from '../cache/tool-index.ts'
import type { ToolDefinition } from '../model.ts'
import { matchesName } from '../workflow/match.ts'
import type { CallContext } from './context.ts'

export type ToolPermissions = Pick<Settings['tools'], 'allow' | 'ask' | 'deny' | 'readOnly'>

/** The strictest that is said; undefined where only hints and names tell. */
export function permissionOf(
  id: string,
  permissions: ToolPermissions | undefined,
): 'deny' | 'ask' | 'allow' | undefined {
  return (['deny', 'ask', 'allow'] as const).find((one) =>
    permissions?.[one].some((pattern) => matchesName(pattern, id)),
  )
}

export function isDeclaredReadOnly(id: string, permissions: ToolPermissions | undefined): boolean {
  return permissions?.readOnly.some((pattern) => matchesName(pattern, id)) === true
}

/** Whether a call only reads: the user's settings first, then hints and names. */
export function readsHere(
  tool: Pick<ToolDefinition, 'id' | 'server' | 'name' | 'annotations'>,
  { permissions, rules }: Pick<CallContext, 'permissions' | 'rules'>,
): boolean {
  return isDeclaredReadOnly(tool.id, permissions) || readsOnly(tool, rules(tool.server).trusted)
}
