import { describe, expect, it } from 'vitest'
import { auditSkill } from '../../src/audit/audit-skill.ts'
import { findSecrets } from '../../src/core/redact.ts'
import { skillFolder, skillText } from './_skill-folder.ts'

const secret = ['sk', 'aB3dE5fG7hJ9kL1mN3pQ'].join('-')

describe('an audit', () => {
  it('compares a name as long as a frontmatter may be', () => {
    const name = 'a'.repeat(60_000)
    const directory = skillFolder({ 'SKILL.md': skillText('Deploy it.', '', name) })
    expect(auditSkill(directory).name).toBe(name)
  })

  it('finds assigned secrets next to any number of tokens', () => {
    const line = `${secret} token=qW3rT5yU7iO9\n`
    const places = findSecrets(line.repeat(20_000))
    expect(places).toHaveLength(40_000)
    expect(places.every(({ offset }, index) => offset >= (places[index - 1]?.offset ?? 0))).toBe(
      true,
    )
  })

  it('reports an assigned token only once', () => {
    const places = findSecrets(`a=1 token=${secret} password=qW3rT5yU7iO9`)
    expect(places.map(({ kind }) => kind)).toEqual(['key of a model provider', 'value of password'])
  })
})
