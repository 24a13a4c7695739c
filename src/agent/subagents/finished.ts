import type { Child } from './child.ts'

/** Subagents that are done and can go on; only so many, the oldest is forgotten first. */
export interface FinishedChildren {
  add(child: Child): void
  take(id: string): Child | undefined
  readonly ids: readonly string[]
}

export function createFinished(most: number): FinishedChildren {
  // A list and no map: where entries come and go, a map leaves copies of itself behind that hold
  // each other, and with them everything that was ever kept, until the next full collection.
  const children: Child[] = []
  return {
    add(child) {
      children.push(child)
      if (children.length > most) children.shift()
    },
    take(id) {
      const index = children.findIndex((child) => child.id === id)
      return index === -1 ? undefined : children.splice(index, 1)[0]
    },
    get ids() {
      return children.map(({ id }) => id)
    },
  }
}
