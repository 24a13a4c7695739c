import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bin } from '../command-line.ts'
import { pages } from './_pages.ts'

it('runs every line under "Try it" in the project that the reader has then', () => {
  const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''
  const [, section = ''] = readme.split('## Try it')
  const [, , , block = ''] = section.split('```')
  const lines = block.replace(/^sh\n/, '')
  expect(lines.match(/^npx skillrail/gm)?.length).toBeGreaterThanOrEqual(9)
  const root = mkdtempSync(join(tmpdir(), 'skillrail-readme-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['bin', 'home', 'project/.git'])
    mkdirSync(join(root, folder), { recursive: true })
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${bin}' "$@"\n`
  writeFileSync(join(root, 'bin/npx'), npx)
  chmodSync(join(root, 'bin/npx'), 0o755)
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', lines], {
    cwd: join(root, 'project'),
    encoding: 'utf8',
    env: {
      PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter),
      HOME: join(root, 'home'),
    },
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('1 skill checked, valid')
  expect(stdout).toContain('Deploy to staging first')
  expect(stdout).toContain('deploy: success')
  expect(stdout).toContain('1 skill')
})
