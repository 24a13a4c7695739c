import type { Child } from './child.ts'

/** Subagents that are done and can go on; only so many, the oldest is forgotten first. */
export interface FinishedChildren {
  add(child: Child): void
  take(id: string): Child | undefined
  readonly ids: readonly string[]
}

export function createFinished(most: number): FinishedChildren {
  const children = new Map<string, Child>()
  return {
    add(child) {
      children.set(child.id, child)
      for (const id of children.keys()) {
        if (children.size <= most) return
        children.delete(id)
      }
    },
    take(id) {
      const child = children.get(id)
      children.delete(id)
      return child
    },
    get ids() {
      return [...children.keys()]
    },
  }
}
