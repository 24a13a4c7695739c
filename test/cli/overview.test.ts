import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-overview-'))
  for (const path of ['home', 'bin', 'project/.git'])
    mkdirSync(join(root, path), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string, mode = 0o644): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
}

function skill(name: string, head = '', script?: string): void {
  const folder = `project/.agents/skills/${name}`
  const text = `---\nname: ${name}\ndescription: Does ${name}. Use when asked for ${name}.\n${head}---\nDo.\n`
  write(`${folder}/SKILL.md`, text)
  if (script !== undefined) write(`${folder}/scripts/run.sh`, `#!/bin/sh\n${script}\n`, 0o755)
}

function skillrail(...args: string[]): Promise<CliResult> {
  const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin` }
  return runInProcess(args, { cwd: join(root, 'project'), home: join(root, 'home'), env })
}

describe('skillrail without arguments', () => {
  it('suggests next steps if there are no skills', async () => {
    const { code, stdout } = await skillrail()
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /Next steps:\n {2}skillrail new --rail release .*\n {2}skillrail new my-skill .*\n {2}skillrail hooks install/,
    )
  })

  it('shows each problem with the command that fixes it, and ends with 1 until it is fixed', async () => {
    skill('good')
    skill('no-file', 'triggers:\n  - match: ^/x\n    inject: gone.md\n')
    skill('no-step', 'metadata:\n  chain: good nowhere\n')
    const { code, stdout } = await skillrail()
    expect(code).toBe(1)
    expect(stdout).toContain('3 skills, 2 invalid, 3 not trusted\n')
    expect(stdout).toContain('\n      skillrail validate .agents/skills/no-file\n')
    expect(stdout).toContain('\n      skillrail trust\n')
    skill('no-file')
    skill('no-step')
    expect(await skillrail('-C', '.')).toMatchObject({ code: 0 })
  })

  it('names a trigger that cannot fire, as triggers check and doctor do, without an exit code', async () => {
    write('project/db/one.sql', '')
    write('project/.agents/skills/schema/a.md', 'TEXT')
    skill('schema', 'triggers:\n  - paths: ["db/**/*.sql"]\n    inject: a.md\n')
    expect((await skillrail()).stdout).not.toContain('never fires')
    expect((await skillrail('triggers', 'check')).stdout).toMatch(/^OK paths/m)
    rmSync(join(root, 'project/db'), { recursive: true })
    write('project/database/one.sql', '')
    const { code, stdout } = await skillrail()
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('schema  trigger never fires  No file of'),
    ])
    expect(stdout).toContain('\n      skillrail validate .agents/skills/schema\n')
    expect((await skillrail('doctor')).stdout).toContain('1 skill with a trigger that never fires')
    for (const quiet of [[], ['-q']]) {
      const checked = await skillrail('triggers', 'check', ...quiet)
      expect(checked.stdout).toMatch(/^WARN paths.*\nNo file of .* matches `db/m)
      expect(checked.stdout).not.toMatch(/^OK/m)
    }
    for (const words of [
      ['triggers', 'check'],
      ['validate', '.agents/skills'],
    ]) {
      expect(await skillrail(...words)).toMatchObject({ code: 0 })
      expect(await skillrail(...words, '--fail-on', 'warning')).toMatchObject({ code: 1 })
      write('project/db/one.sql', '')
      skill('schema')
      expect(await skillrail(...words, '--fail-on', 'warning')).toMatchObject({ code: 0 })
      rmSync(join(root, 'project/db'), { recursive: true })
      skill('schema', 'triggers:\n  - paths: ["db/**/*.sql"]\n    inject: a.md\n')
    }
  })

  it('shows runs that wait or failed until they are approved or succeed', async () => {
    skill('fails', '', 'test -e ok')
    skill('gated', 'metadata:\n  chain: fails\n  gates: fails\n')
    expect(await skillrail('run', 'fails', '--trust-workspace')).toMatchObject({ code: 1 })
    expect(await skillrail('run', 'gated', '--trust-workspace')).toMatchObject({ code: 6 })
    const { code, stdout } = await skillrail()
    expect(code).toBe(1)
    expect(stdout).toMatch(/ gated {2}waiting .*\n {6}skillrail runs approve 0/)
    expect(stdout).toMatch(/ fails {2}failure .*\n {6}skillrail runs retry 0/)
    write('project/ok', '')
    expect(await skillrail('run', 'fails', '--trust-workspace')).toMatchObject({ code: 0 })
    expect(await skillrail()).toMatchObject({ code: 0 })
  })

  it('keeps runs out of the project, so that git does not see them', async () => {
    skill('works', '', 'echo done')
    expect(await skillrail('run', 'works', '--trust-workspace')).toMatchObject({ code: 0 })
    expect(readdirSync(join(root, 'project')).toSorted()).toEqual(['.agents', '.git'])
  })

  it('prints one JSON document with --json', async () => {
    skill('good')
    const { stdout } = await skillrail('--json')
    const { parts } = JSON.parse(stdout)
    expect(parts.map(({ name, total }: { name: string; total: number }) => [name, total])).toEqual([
      ['skills', 1],
      ['clients', 0],
      ['runs', 0],
      ['servers', 0],
    ])
  })
})

it('list marks the skills that validate calls invalid', async () => {
  skill('good')
  skill('no-file', 'triggers:\n  - match: ^/x\n    inject: gone.md\n')
  const { stdout, stderr } = await skillrail('list')
  expect(stdout).toContain('[invalid] The file that a trigger injects cannot be used')
  expect(stderr).toContain('1 invalid (skillrail validate)')
})

it('validate --fix reports that nothing can be fixed automatically', async () => {
  skill('good')
  expect((await skillrail('validate', '--fix')).stdout).toContain(
    'Nothing can be fixed automatically.',
  )
  expect((await skillrail('validate')).stdout).not.toContain('automatically')
})
