import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfiguration } from '../../../src/core/configuration.ts'
import { reviewWorkspace } from '../../../src/project/trust-review.ts'
import { trustReportLines } from '../../../src/commands/trust/report-text.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from '../_project.ts'

const skill = '.claude/skills/deploy'
const document = '---\nname: deploy\ndescription: Deploys. Use when asked to.\n---\nDo it.\n'

function project() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const write = (path: string, text: string): void => {
    writeFiles(workspace, { [`${skill}/${path}`]: text })
  }
  writeFiles(workspace, { '.git/HEAD': '' })
  write('SKILL.md', document)
  write('guide.md', 'one\n')
  const runtime = { ...runtimeIn(root), cwd: workspace }
  const { settings } = loadConfiguration(runtime)
  const store: TrustStore = new TrustStore(runtime)
  const review = (options: { pin?: boolean }, path?: string) =>
    reviewWorkspace({ runtime, settings }, store, path, options)
  return { workspace, write, review }
}

it('accepts the text of the report, not a later text', async () => {
  const { write, review } = project()
  const shown = review({ pin: true })
  const lines = trustReportLines(shown.report).join('\n')
  expect(lines).toContain('    text           guide.md (4 B)')
  write('guide.md', 'written while a person reads\n')
  write('scripts/late.sh', '#!/bin/sh\n')
  await shown.accept()
  const { report } = review({})
  expect(report).toMatchObject({ state: 'changed', pinned: true })
  expect(report.changes.map(({ change, path }) => `${change} ${path}`)).toEqual([
    `changed ${skill}/guide.md`,
    `added ${skill}/scripts/late.sh`,
  ])
})

it('accepts no script that appeared during the question about text', async () => {
  const { write, review } = project()
  await review({ pin: true }).accept()
  const shown = review({ pin: false })
  write('scripts/late.sh', '#!/bin/sh\n')
  await shown.accept()
  expect(review({}).report).toMatchObject({
    state: 'changed',
    pinned: false,
    changes: [{ change: 'added', path: `${skill}/scripts/late.sh` }],
  })
  write('guide.md', 'two\n')
  expect(review({}).report.changes).toHaveLength(1)
})

it.skipIf(process.platform === 'win32')('reports a circular link as such', () => {
  const { workspace, review } = project()
  symlinkSync('loop', join(workspace, 'loop'))
  expect(() => review({}, 'loop')).toThrow(expect.objectContaining({ code: 'ELOOP' }))
})

it('shows what triggers of each kind and of the overlay will do', () => {
  const { workspace, write, review } = project()
  const triggers = [
    '  - match: ^/deploy\n    inject: a.md',
    '  - examples: [ship it]\n    not: [ship a parcel]\n    inject: b.md',
    '  - paths: [src/**]\n    inject: c.md',
    '  - paths: [infra/**]\n    on: read\n    require: true\n    inject: d.md',
    '  - command: ^git push\n    inject: e.md',
    '  - command: ^git pull\n    require: false\n    inject: f.md',
    '  - tool: mcp__database__drop_*\n    inject: g.md',
  ]
  write('SKILL.md', document.replace('\n---\nDo', `\ntriggers:\n${triggers.join('\n')}\n---\nDo`))
  writeFiles(workspace, {
    '.skillrail/triggers.yaml': 'deploy:\n  - tool: mcp__shop__pay\n    inject: h.md\n',
  })
  const { report } = review({})
  expect(
    report.triggers.map(({ mode, trigger, inject }) => `${mode} ${inject} ${trigger}`),
  ).toEqual([
    'prompt a.md match: ^/deploy',
    'prompt b.md examples: ship it !not ship a parcel',
    'call c.md paths[edit]: src/**',
    'denies d.md paths[read]: infra/**',
    'denies e.md command: ^git push',
    'call f.md command: ^git pull',
    'denies g.md tool: mcp__database__drop_*',
    'denies h.md tool: mcp__shop__pay',
  ])
  const text = trustReportLines(report).join('\n')
  expect(text).toContain('    deploy  tool: mcp__database__drop_* => g.md')
  expect(text).toContain('    deploy  tool: mcp__shop__pay => h.md, from .skillrail/triggers.yaml')
  for (const { inject, trigger } of report.triggers)
    expect(text).toContain(`${trigger} => ${inject}`)
  expect(review({}, join(workspace, skill)).report.triggers).toHaveLength(8)
})
