import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SkillrailError } from '../../src/core/errors.ts'
import { failureReport, failureText } from '../../src/cli/main.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'
import { bin } from '../command-line.ts'

let root: string
/** Outside of the project: a home inside of it is ignored. */
let home: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-failure-'))
  home = mkdtempSync(join(tmpdir(), 'skillrail-failure-home-'))
  mkdirSync(join(root, '.git'))
  writeFileSync(join(root, 'file'), '')
  writeFileSync(join(root, 'broken.json'), '{ "run": ')
  writeFileSync(join(root, 'wrong.json'), '{ "run": { "timeout": "x" } }')
})
afterAll(() => {
  for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true })
})

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: root, home })
}

describe('an error of the file system', () => {
  it('is a sentence with a code and a hint, not a defect', async () => {
    const { code, stderr } = await skillrail('new', '--schema', '--output', 'file/below.json')
    expect(code).toBe(1)
    expect(stderr).toContain('part of the path is a file, not a directory')
    expect(stderr).not.toContain('defect')
  })

  it('is reported as JSON with its code', async () => {
    const { stdout } = await skillrail('new', '--schema', '--output', '.', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'system-eisdir', hint: 'Name a file.' },
    })
  })
})

it('an unknown error is called a defect, and shows its stack only with --verbose', () => {
  const error = new TypeError('x is not a function')
  expect(failureText(error, false)).toContain('This is a defect of skillrail.')
  expect(failureText(error, false)).not.toContain('    at ')
  expect(failureText(error, true)).toContain('    at ')
  expect(failureReport(error)).toEqual({
    error: { code: 'internal', message: 'x is not a function' },
  })
})

it('a known error has its diagnostics and its hint, without control characters', () => {
  const text = failureText(
    new SkillrailError({
      code: 'some-code',
      message: 'something \u001b[2J is wrong',
      hint: 'Do this.',
      diagnostics: [{ code: 'c', severity: 'error', message: 'm', path: 'p', line: 3 }],
    }),
    false,
  )
  expect(text).toBe('skillrail: something \\x1b[2J is wrong\n  p:3: error: m [c]\nDo this.\n')
})

describe('a configuration file in an option', () => {
  it('is wrong use if it does not exist', async () => {
    const { code, stderr } = await skillrail('list', '--config', 'missing.json')
    expect(code).toBe(2)
    expect(stderr).toContain('missing.json')
  })

  it.each(['broken.json', 'wrong.json'])('is refused as a whole with %s', async (name) => {
    const { code, stderr } = await skillrail('new', '--schema', '--config', name)
    expect(code).toBe(4)
    expect(stderr).toContain(`${name}:1:`)
  })
})

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  const redirected = (command: string, redirection: string) =>
    spawnSync('sh', ['-c', `"$0" "$1" ${command} ${redirection}`, process.execPath, bin], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home },
    })

  it.each(['new --schema', 'list --json'])('is a failure of `%s` if stdout is on it', (command) => {
    const { status, stderr } = redirected(command, '> /dev/full')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^skillrail: stdout cannot be written: ENOSPC[^]*incomplete\.\n$/)
  })

  it('leaves the message of another failure if stdout is on it', () => {
    const { status, stderr } = redirected('list --nonesuch --json', '> /dev/full')
    expect(status).toBe(2)
    expect(stderr).toMatch(/^skillrail: .*--nonesuch/)
    expect(stderr).not.toContain('    at ')
  })

  it.each(['2> /dev/full', '2>&-'])('changes nothing if stderr is on it (%s)', (redirection) => {
    const usual = redirected('list --verbose', '')
    const { status, stdout } = redirected('list --verbose', redirection)
    expect({ status, stdout }).toEqual({ status: usual.status, stdout: usual.stdout })
    expect(redirected('list --nonesuch', redirection).status).toBe(2)
  })
})

it('a reader that has closed the pipe is not a failure', () => {
  const command = 'set -o pipefail 2>/dev/null; "$0" "$1" new --schema | true'
  const { status, stderr } = spawnSync('bash', ['-c', command, process.execPath, bin], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

it.each([
  ['EACCES', 'scandir', 'Give yourself the right to read it'],
  ['EACCES', 'open', 'Check the permissions of the directory'],
  ['ELOOP', 'stat', 'Fix or remove the link.'],
  ['ENAMETOOLONG', 'stat', 'Choose a shorter name.'],
])('an error of the file system has a hint: %s of %s gives %s', (code, syscall, hint) => {
  const text = failureText(Object.assign(new Error('no'), { code, syscall, path: 'x' }), false)
  expect(text).toContain(hint)
  expect(text).not.toContain('defect')
})
