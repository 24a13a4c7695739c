import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type Launcher,
  openLauncher,
  type ProcessEnd,
  type ProcessRequest,
} from '../../src/exec/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'skillrail-sequences-'))
const input = join(directory, 'input')
writeFileSync(input, 'given\n')
const missing = join(directory, 'none')
afterAll(() => rmSync(directory, { recursive: true }))

interface Kind {
  /** For a shell; `$1` is its place in the sequence. */
  script: string
  more?: Partial<ProcessRequest>
  end: ProcessEnd
  stdout?: (place: number) => string
  stderr?: (place: number) => string
}

const exit = (code: number): ProcessEnd => ({ kind: 'exit', code })
const notStarted: ProcessEnd = { kind: 'not-started', message: expect.stringContaining('ENOENT') }

const kinds: Record<string, Kind> = {
  'says and fails': {
    script: 'echo "out $1"; echo "err $1" >&2; exit 3',
    end: exit(3),
    stdout: (place) => `out ${place}\n`,
    stderr: (place) => `err ${place}\n`,
  },
  'is silent': { script: ':', end: exit(0) },
  'reads its input': {
    script: 'cat; echo "$1"',
    more: { stdin: { file: input } },
    end: exit(0),
    stdout: (place) => `given\n${place}\n`,
  },
  'takes its time': {
    script: 'echo "$1"; sleep 0.06; echo later',
    end: exit(0),
    stdout: (place) => `${place}\nlater\n`,
  },
  'closes its output': { script: 'echo "$1"; exec 1>&- 2>&-; exit 4', end: exit(4), stdout: line },
  'closes all three': { script: 'exec 0<&- 1>&- 2>&-; sleep 0.01', end: exit(0) },
  'leaves something behind': { script: 'sleep 0.04 & echo "$1" >&2', end: exit(0), stderr: line },
  'prints much on both': {
    script: `much() { head -c 90000 /dev/zero | tr '\\0' "$1"; }; much o; much e >&2; echo "$1"`,
    end: exit(0),
    stdout: (place) => `${'o'.repeat(90_000)}${place}\n`,
    stderr: () => 'e'.repeat(90_000),
  },
  'kills itself': {
    script: 'echo "$1"; kill -KILL $$',
    end: { kind: 'signal', signal: 'SIGKILL' },
    stdout: line,
  },
  'looks as if not started': { script: 'exit 127', end: exit(127) },
  'is missing': { script: '', more: { file: missing }, end: notStarted },
  'has no directory': { script: '', more: { cwd: missing }, end: notStarted },
  'has no input': { script: '', more: { stdin: { file: missing } }, end: notStarted },
}

function line(place: number): string {
  return `${place}\n`
}

async function check(launcher: Launcher, name: string, place: number): Promise<void> {
  const { script, more, end, stdout, stderr } = kinds[name] ?? { script: '', end: exit(0) }
  const result = await launcher.run({
    file: '/bin/sh',
    args: ['-c', script, 'sh', String(place)],
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '' },
    outputLimit: 1_000_000,
    ...more,
  })
  expect([name, result.end]).toEqual([name, end])
  expect([name, result.stdout.head]).toEqual([name, stdout?.(place) ?? ''])
  expect([name, result.stderr.head]).toEqual([name, stderr?.(place) ?? ''])
}

describe.runIf(existsSync('/usr/bin/perl')).each([
  ['with pipes of its own', true],
  ['without', false],
])('the launcher %s', (_how, quick) => {
  it('tells of each program what it printed and how it ended, whatever ran before', async () => {
    const launcher = openLauncher(undefined, quick)
    const sequences = fc.array(fc.constantFrom(...Object.keys(kinds)), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(sequences, async (names) => {
        for (const [place, name] of names.entries()) await check(launcher, name, place)
      }),
      { numRuns: 10 },
    )
    await launcher.close()
  })

  it.each(Object.keys(kinds))('may begin with one that %s', async (name) => {
    const launcher = openLauncher(undefined, quick)
    for (const [place, next] of [name, 'reads its input', name].entries()) {
      await check(launcher, next, place)
    }
    await launcher.close()
  })
})
