import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { auditRules } from '../../src/audit/rules.ts'
import { auditSkill } from '../../src/audit/audit-skill.ts'
import { findSkillFolders } from '../../src/audit/read-tree.ts'
import type { SkillAudit } from '../../src/audit/findings.ts'
import { KnownNames } from '../../src/audit/check-names.ts'

const root = join(import.meta.dirname, '../..')
const corpus = process.env['SKILLRAIL_CORPUS'] ?? join(root, '../shared/corpus')
/** How many of the published skills have at least one finding of a rule; 0 where it is not named. */
const expectedCounts: Readonly<Record<string, number>> = {
  'comment-instructions': 1,
  'name-near': 3,
  'tool-requested': 10,
  'skill-behaviour': 1,
  'embedded-command': 1,
  'mcp-configuration': 8,
  'agent-configuration': 8,
  'network-address': 237,
  'network-call': 49,
  'download-and-run': 8,
  'credential-variable': 14,
  'credential-file': 21,
  'shell-execution': 16,
  evaluation: 2,
  'package-install': 91,
  persistence: 3,
  privilege: 8,
  deletion: 20,
  decoding: 1,
  'override-phrase': 1,
  'concealment-phrase': 3,
  'secret-value': 2,
}

describe.skipIf(!existsSync(corpus))('published skills (skipped without SKILLRAIL_CORPUS)', () => {
  let audits: SkillAudit[] = []
  beforeAll(() => {
    const { directories } = findSkillFolders(corpus)
    const known = new KnownNames(
      directories.map((directory) => ({ name: auditSkill(directory).name ?? '', directory })),
    )
    audits = directories.map((directory) => auditSkill(directory, known))
  }, 120_000)

  it('have no error', () => {
    const errors = audits.flatMap(({ findings }) =>
      findings.filter(({ severity }) => severity === 'error'),
    )
    expect(audits.length).toBeGreaterThan(600)
    expect(errors).toEqual([])
  })

  it('give these findings and no others', () => {
    const count = (code: string): number =>
      audits.filter(({ findings }) => findings.some((finding) => finding.code === code)).length
    expect(Object.fromEntries(auditRules.map(({ code }) => [code, count(code)]))).toEqual(
      Object.fromEntries(auditRules.map(({ code }) => [code, expectedCounts[code] ?? 0])),
    )
  })
})
