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
  const counts = `${amount(skills.length, 'skill')} usable, ${unusable.length} not, ${shadowed.length} shadowed`
  const first = unusable.slice(0, 3).map(({ path }) => dirname(path))
  const none = skills.length === 0 ? 'skillrail new NAME makes a skill.' : undefined
  const isBad = unusable.length > 0
  const findings: Check = {
    name: 'skill findings',
    status: 'information',
    found: `${amount(doubtful.length, 'skill')} with warnings`,
    advice: 'skillrail list --verbose shows them.',
  }
  return [
    {
      name: 'skills',
      status: isBad ? 'warning' : 'ok',
      found: counts,
      advice: isBad ? `skillrail validate ${first.join(' ')}` : none,
    },
    ...(doubtful.length === 0 ? [] : [findings]),
    ...places.map(({ path, message, hint, severity }): Check => {
      const status = severity === 'error' ? 'warning' : 'information'
      return { name: 'place', status, found: `${path}: ${message}`, advice: hint }
    }),
  ]
}
