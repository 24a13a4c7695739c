import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a program of the repository under a Node that says that it has this version. */
function under(version: string, program: string) {
  const preload = join(mkdtempSync(join(tmpdir(), 'old node ')), 'old.cjs')
  const versions = `{ value: { ...process.versions, node: '${version}' } }`
  writeFileSync(preload, `Object.defineProperty(process, 'versions', ${versions})`)
  const words = ['--require', preload, program]
  return spawnSync(process.execPath, words, { cwd: repository, encoding: 'utf8' })
}

it.each([
  ['dev/need-node.mjs', '22.17.1'],
  ['dev/release-branch.mjs', '20.20.2'],
])('says which Node it needs if this one is too old: %s', (program, version) => {
  const { status, stderr } = under(version, program)
  const [line, ...others] = stderr.trim().split('\n')
  expect([status, line, others]).toEqual([1, expect.stringContaining(version), []])
})

it('checks the version of Node before npm start builds', () => {
  expect(manifest.scripts.start).toMatch(/^node dev\/need-node\.mjs && /)
  expect(under('22.18.0', 'dev/need-node.mjs').status).toBe(0)
})
