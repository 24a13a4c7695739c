import type { SessionPart } from '../session-part.ts'
import { createPermit, type PermitOptions } from './permit.ts'
import { listNames } from './tool-patterns.ts'

/** Stands before every call of an agent, and hides the tools that it may never call. */
export function approvalPart(options: PermitOptions): SessionPart {
  const { denied = [], mode } = options
  const never = denied.filter(({ pattern }) => pattern === undefined)
  const hides = mode === 'plan' || never.length > 0
  return {
    offers: hides
      ? (tool) => (mode !== 'plan' || tool.readOnly) && !listNames(never, tool)
      : undefined,
    permit: createPermit(options),
  }
}
