import type { AllowedTool } from '../skill/index.ts'
import type { Activation, ActivationKey } from './activation.ts'

/** What the active skills allow together. */
export interface ActivePermissions {
  /** Tools that need no approval now. */
  preApproved: readonly AllowedTool[]
  /** Each entry is one untrusted skill's list; a tool must be in all of them to be used. */
  narrowedTo: readonly (readonly AllowedTool[])[]
}

/**
 * The skills that are active, in the order of their activation. What they allow is computed from
 * this list alone, so that taking one away leaves exactly what would be there without it.
 */
export interface ActiveSkills {
  readonly names: readonly string[]
  has(name: string): boolean
  /** The activation with content, for telling whether the next one only repeats it. */
  keyOf(name: string): ActivationKey | undefined
  add(activation: Activation): void
  /** False when it was not active. */
  remove(name: string): boolean
  permissions(): ActivePermissions
}

export function createActiveSkills(): ActiveSkills {
  const active = new Map<string, Activation>()
  return {
    get names() {
      return [...active.keys()]
    },
    has: (name) => active.has(name),
    keyOf: (name) => active.get(name),
    add: (activation) => void active.set(activation.name, activation),
    remove: (name) => active.delete(name),
    permissions() {
      const effects = Array.from(active.values(), (activation) => activation.effects)
      return {
        preApproved: effects.flatMap(({ preApproved }) => preApproved),
        narrowedTo: effects.flatMap(({ narrowedTo }) =>
          narrowedTo === undefined ? [] : [narrowedTo],
        ),
      }
    },
  }
}
