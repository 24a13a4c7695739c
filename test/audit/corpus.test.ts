import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { auditRules, auditSkill, findSkillFolders, type SkillAudit } from '../../src/audit/index.ts'

const root = join(import.meta.dirname, '../..')
const corpus = process.env['SKILLRAIL_CORPUS'] ?? join(root, '../shared/corpus')
const page = readFileSync(join(root, 'docs/reference/audit.md'), 'utf8')

/** The cells of the rows whose first one is a code. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))

it('documents every rule with its severity', () => {
  expect(rows.map(([, code, severity]) => [code, severity])).toEqual(
    auditRules.map(({ code, severity }) => [`\`${code}\``, severity]),
  )
})

describe.skipIf(!existsSync(corpus))('published skills (skipped without SKILLRAIL_CORPUS)', () => {
  let audits: SkillAudit[] = []
  beforeAll(() => {
    const { directories } = findSkillFolders(corpus)
    const others = directories.map((directory) => ({
      name: auditSkill(directory).name ?? '',
      directory,
    }))
    audits = directories.map((directory) =>
      auditSkill(directory, { others: others.filter((other) => other.directory !== directory) }),
    )
  }, 120_000)

  it('have no error', () => {
    const errors = audits.flatMap(({ findings }) =>
      findings.filter(({ severity }) => severity === 'error'),
    )
    expect(audits.length).toBeGreaterThan(600)
    expect(errors).toEqual([])
  })

  it('give the figures of the reference page', () => {
    const count = (code: string): number =>
      audits.filter(({ findings }) => findings.some((finding) => finding.code === code)).length
    expect(rows.map(([, code, , skills]) => [code, skills])).toEqual(
      auditRules.map(({ code }) => [`\`${code}\``, String(count(code))]),
    )
  })
})
