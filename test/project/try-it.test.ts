import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bin } from '../command-line.ts'
import { pages } from './_pages.ts'

it(
  'runs every line of a first skill in the project that the reader has then',
  { timeout: 180_000 },
  () => {
    const lines = blockOf('docs/for-skill-authors.md', '## A first skill')
    expect(lines.match(/^npx skillrail/gm)?.length).toBeGreaterThanOrEqual(9)
    const stdout = runAll(lines)
    expect(stdout).toContain('1 skill checked, valid')
    expect(stdout).toContain('Deploy to staging first')
    expect(stdout).toContain('deploy: success')
    expect(stdout).toContain('1 skill')
  },
)

it('runs every line of a first rail in a Git repository', () => {
  const lines = blockOf('README.md', '## Your first rail')
  expect(lines.match(/^skillrail/gm)?.length).toBeGreaterThanOrEqual(4)
  // The hook is installed in the section before it, and a person answers the question of `trust`.
  const after = lines.replaceAll(/^skillrail trust/gm, 'skillrail trust --yes')
  const stdout = runAll(`skillrail hooks install claude\n${after}`)
  expect(stdout).toContain('Trusted.')
  expect(stdout).toContain('release-publish: after approval; until then git push is denied')
})

/** The first block of commands below a heading. */
function blockOf(path: string, heading: string): string {
  const page = pages.find((one) => one.path === path)?.text ?? ''
  const [, section = ''] = page.split(`${heading}\n`)
  const [, block = ''] = section.split('```')
  return block.replace(/^sh\n/, '')
}

/** Runs lines in a new repository, on a machine with Claude Code, and returns what they print. */
function runAll(lines: string): string {
  const root = mkdtempSync(join(tmpdir(), 'skillrail-readme-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['bin', 'home/.claude', 'project']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  const project = join(root, 'project')
  execFileSync('git', ['init', '-q', project])
  const program = `exec '${process.execPath}' --disable-warning=ExperimentalWarning '${bin}' "$@"`
  for (const [name, start] of [
    ['npx', 'shift\n'],
    ['skillrail', ''],
  ] as const) {
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${start}${program}\n`)
    chmodSync(join(root, 'bin', name), 0o755)
  }
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', lines], {
    cwd: project,
    encoding: 'utf8',
    env: {
      PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter),
      HOME: join(root, 'home'),
    },
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}
