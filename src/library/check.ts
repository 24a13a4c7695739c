import { dirname } from 'node:path'
import type { Check, CheckContext } from '#core/command'
import { amount } from '#core/text'
import { discoverOptionsFrom, discoverSkills } from './discover.ts'
import { indistinctSkills } from './indistinct.ts'
import type { SkillInfo } from './model.ts'

/** Reports usable, broken and doubtful skills, for `doctor`. */
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
  const found = `${amount(doubtful.length, 'skill')} with warnings`
  const shows = 'skillrail list --verbose shows them.'
  const findings: Check = { name: 'skill findings', status: 'information', found, advice: shows }
  const advice = isBad ? `skillrail validate ${first.join(' ')}` : none
  return [
    { name: 'skills', status: isBad ? 'warning' : 'ok', found: counts, advice },
    ...(doubtful.length === 0 ? [] : [findings]),
    ...indistinctSkills(skills).map(({ path, message, hint }): Check => {
      return {
        name: 'similar skills',
        status: 'warning',
        found: `${path}: ${message}`,
        advice: hint,
      }
    }),
    ...catalogueChecks([...skills, ...conflicts, ...shadowed]),
    ...places.map(({ path, message, hint, severity }): Check => {
      const status = severity === 'error' ? 'warning' : 'information'
      return { name: 'place', status, found: `${path}: ${message}`, advice: hint }
    }),
  ]
}

/** How many characters of the catalogue a client accepts, from its requests. Other clients showed no limit. */
const catalogueLimits = [
  { client: 'claude', title: 'Claude Code', most: 24_000, entry: 6, rest: 'are names alone' },
  { client: 'codex', title: 'Codex', most: 19_000, entry: 31, rest: 'make it shorten all of them' },
  { client: 'copilot', title: 'Copilot CLI', most: 16_000, entry: 65, rest: 'are names alone' },
] as const

/** Reports catalogues that are too long for a client. A client also lists skills that Skillrail shadows. */
export function catalogueChecks(
  skills: readonly Pick<SkillInfo, 'name' | 'description' | 'clients' | 'fields'>[],
): Check[] {
  return catalogueLimits.flatMap(({ client, title, most, entry, rest }): Check[] => {
    const inCatalogue = skills.filter(
      (info) => info.clients.includes(client) && !info.fields.disableModelInvocation,
    )
    const listedSkills = [...new Map(inCatalogue.map((info) => [info.name, info])).values()]
    const sizes = listedSkills.map(({ name, description, fields: { whenToUse = '' } }) => {
      const about = client === 'claude' ? description.length + whenToUse.length : description.length
      return name.length + Math.min(about, 1536) + entry
    })
    const total = sizes.reduce((sum, size) => sum + size, 0)
    if (total <= most) return []
    let room = most
    const fitting = sizes.filter((size) => (room -= size) >= 0).length
    const text = `${listedSkills.length} skills have about ${total} characters, and it takes about ${most}; ${listedSkills.length - fitting} descriptions ${rest}`
    const advice = 'Shorten descriptions, or add triggers.'
    return [{ name: `catalogue of ${title}`, status: 'warning', found: text, advice }]
  })
}
