import { expect, it } from 'vitest'
import type { ClientName } from '../../src/core/client-folders.ts'
import { catalogueChecks } from '../../src/library/check.ts'
import { noFields } from '../../src/library/scan-location.ts'
import { validateSkill } from '../../src/skill/validate.ts'

/** As many skills of 266 characters as were seen in the requests of real clients. */
function skills(count: number, client: ClientName) {
  return Array.from({ length: count }, (_, at) => {
    const name = `zq${String(at).padStart(3, '0')}`
    return { name, description: 'x'.repeat(266), clients: [client], fields: noFields }
  })
}

it.each<[number, ClientName, number | undefined]>([
  [60, 'claude', undefined],
  [300, 'claude', 74],
  [60, 'copilot', 38],
  [60, 'gemini', undefined],
])('%i skills that %s reads keep %s descriptions', (count, client, kept) => {
  const [check] = catalogueChecks(skills(count, client))
  const lost = Number(/; (\d+) descriptions/.exec(check?.found ?? '')?.[1])
  // A tenth more or less: clients list skills of their own, too.
  const near = kept === undefined ? check : Math.abs(count - lost - kept) <= 12
  expect(near).toBe(kept === undefined ? undefined : true)
})

it('warns of an entry that Claude Code cuts', () => {
  const text = `---\nname: a\ndescription: ${'Reads files. '.repeat(70)}Use when asked.\nwhen_to_use: ${'When asked. '.repeat(60)}\n---\n`
  const { diagnostics, valid } = validateSkill(text, { path: 'a/SKILL.md', directoryName: 'a' })
  expect(diagnostics.map(({ code }) => code)).toContain('catalogue-cut')
  expect(valid).toBe(true)
})
