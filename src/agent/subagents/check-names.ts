import { dirname } from 'node:path'
import type { Diagnostic } from '../../base/index.ts'
import type { DefinedAgent } from './check-references.ts'

/** Definitions that are never used, because another one in their folder has their name. */
export function checkNames(agents: readonly DefinedAgent[]): Diagnostic[] {
  const first = new Map<string, string>()
  return agents.flatMap(({ config: { name }, path }) => {
    const key = `${dirname(path)} ${name}`
    const other = first.get(key)
    if (other === undefined) first.set(key, path)
    return other === undefined ? [] : [sameName(name, other, path)]
  })
}

/** @param used the file whose definition counts. */
export function sameName(name: string, used: string, path: string): Diagnostic {
  const message = `the subagent ${name} is defined by ${used} too, which is used`
  return { code: 'agent-twice', severity: 'warning', message, path, hint: 'Rename one of them.' }
}
