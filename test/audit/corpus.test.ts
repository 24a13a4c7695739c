import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { auditSkill } from '../../src/audit/audit-skill.ts'
import { findSkillFolders } from '../../src/audit/read-tree.ts'
import type { SkillAudit } from '../../src/audit/findings.ts'
import { InstalledNames } from '../../src/audit/check-names.ts'

const root = join(import.meta.dirname, '../..')
const corpus = process.env['SKILLRAIL_CORPUS'] ?? join(root, '../shared/corpus')

describe.skipIf(!existsSync(corpus))('published skills (skipped without SKILLRAIL_CORPUS)', () => {
  let audits: SkillAudit[] = []
  beforeAll(() => {
    const { directories } = findSkillFolders(corpus)
    const known = new InstalledNames(
      directories.map((directory) => ({ name: auditSkill(directory).name ?? '', directory })),
    )
    audits = directories.map((directory) => auditSkill(directory, known))
  }, 120_000)

  it('have no errors', () => {
    const errors = audits.flatMap(({ findings }) =>
      findings.filter(({ severity }) => severity === 'error'),
    )
    expect(audits.length).toBeGreaterThan(600)
    expect(errors).toEqual([])
  })

  it('have hardly any warnings', () => {
    const warned = audits.filter(({ findings }) =>
      findings.some(({ severity }) => severity === 'warning'),
    )
    expect(warned.length / audits.length).toBeLessThan(0.02)
  })
})
