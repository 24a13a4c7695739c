import { dirname } from 'node:path'
import type { Check, CheckContext } from '../core/check.ts'
import { amount } from '../core/text.ts'
import { discoverOptionsFrom, discoverSkills } from './discover.ts'

export function checkLibrary({ runtime, settings }: CheckContext): Check[] {
  const discovery = discoverSkills(discoverOptionsFrom(runtime, settings))
  const { skills, shadowed, conflicts, broken, diagnostics } = discovery
  const unusable = [...broken, ...conflicts]
  const doubtful = skills.filter((info) => info.diagnostics.length > 0)
  const places = diagnostics.filter(({ path }) => broken.every((skill) => skill.path !== path))
  return [
    {
      name: 'skills',
      status: unusable.length > 0 ? 'warning' : 'ok',
      found:
        `${amount(skills.length, 'skill')} usable, ${unusable.length} not, ` +
        `${shadowed.length} shadowed`,
      advice: skillAdvice(
        skills.length,
        unusable.map(({ path }) => dirname(path)),
      ),
    },
    ...(doubtful.length === 0
      ? []
      : [
          {
            name: 'skill findings',
            status: 'information' as const,
            found: `${amount(doubtful.length, 'skill')} with warnings`,
            advice: 'skillrail list --verbose shows them.',
          },
        ]),
    ...places.map(({ path, message, hint, severity }) => ({
      name: 'place',
      status: severity === 'error' ? ('warning' as const) : ('information' as const),
      found: `${path}: ${message}`,
      advice: hint,
    })),
  ]
}

function skillAdvice(usable: number, unusable: readonly string[]): string | undefined {
  if (unusable.length > 0) return `skillrail validate ${unusable.slice(0, 3).join(' ')}`
  return usable === 0 ? 'skillrail new NAME makes a skill.' : undefined
}
