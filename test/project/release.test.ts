import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const script = new URL('../../dev/release.mjs', import.meta.url).pathname

it('moves unreleased changes into a section, commits, tags, and uses that section as the notes', () => {
  const root = mkdtempSync(join(tmpdir(), 'skillrail-release-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const run = (file: string, ...args: string[]) => {
    const identity = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'maintainer'],
      [`GIT_${who}_EMAIL`, 'maintainer@example.org'],
    ])
    const env = { PATH: process.env['PATH'], HOME: root, ...Object.fromEntries(identity) }
    const { status, stdout } = spawnSync(file, args, { cwd: root, env, encoding: 'utf8' })
    return { status, stdout }
  }
  const release = (...args: string[]) => run(process.execPath, script, ...args)
  const manifest = { name: 'x', version: '0.1.0', scripts: { generate: 'true' } }
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
  writeFileSync(
    join(root, 'CHANGELOG.md'),
    '# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n',
  )
  writeFileSync(join(root, '.gitignore'), '.npm\n.cache\n')
  run('git', 'init', '--quiet')
  expect(release('0.2.0').status).toBe(1)
  run('git', 'add', '--all')
  run('git', 'commit', '--quiet', '--message', 'first')
  expect(release('0.2.0').status).toBe(0)
  expect(run('git', 'tag').stdout).toBe('v0.2.0\n')
  expect(run('git', 'status', '--porcelain').stdout).toBe('')
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n### Added\n\n- A thing\.\n$/,
  )
  expect(release('--notes', 'v0.2.0').stdout).toBe('### Added\n\n- A thing.\n')
  expect(release('--notes', 'v0.3.0').status).toBe(1)
})
