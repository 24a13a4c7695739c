import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bin } from '../command-line.ts'
import { pages } from './_pages.ts'

it('runs the example of the page about proofs as it is written', () => {
  const page = pages.find(({ path }) => path === 'docs/proof.md')?.text ?? ''
  const [, example = ''] = page.split('## Example')
  const [, ...parts] = example.split('```sh\n')
  const lines = parts.slice(0, 3).map((part) => part.split('```')[0])
  const root = mkdtempSync(join(tmpdir(), 'skillrail-proof-page-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['bin', 'home']) mkdirSync(join(root, folder))
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${bin}' "$@"\n`
  writeFileSync(join(root, 'bin/npx'), npx, { mode: 0o755 })
  const person = { NAME: 'Ada', EMAIL: 'ada@example.com' }
  const names = Object.entries(person).flatMap(([name, value]) => [
    [`GIT_AUTHOR_${name}`, value],
    [`GIT_COMMITTER_${name}`, value],
  ])
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', lines.join('')], {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter),
      HOME: join(root, 'home'),
      ...Object.fromEntries(names),
    },
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('.json: passed\n')
  expect(stdout).toContain('✓ ship-it is the one of main\n')
  expect(stdout).toContain('✓ implement: sh test.sh passed again\n')
})
