import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findScript, findVerifyScript, interpreterFor } from '../../src/exec/find-script.ts'

describe('the script of a skill', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'skillrail-script-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const write = (path: string, text = '#!/bin/sh\n', mode = 0o755): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text, { mode })
  }

  it.each(['run', 'run.sh', 'run.mjs', 'run.js', 'run.ts', 'run.py'])(
    'is found by convention: scripts/%s',
    (name) => {
      write(`scripts/${name}`)
      const found = findScript(directory, undefined)
      expect(found).toMatchObject({ kind: 'found', script: { relative: `scripts/${name}` } })
    },
  )

  it('is the file that run names', () => {
    write('scripts/run.sh')
    write('bin/go.py', 'print()', 0o644)
    expect(findScript(directory, 'bin/go.py')).toMatchObject({
      kind: 'found',
      script: { relative: 'bin/go.py', file: 'python3' },
    })
  })

  it('is undefined in a skill of instructions', () => {
    write('scripts/other.sh')
    expect(findScript(directory, undefined)).toEqual({ kind: 'none' })
  })

  it('is a diagnostic if there are two scripts', () => {
    write('scripts/run.sh')
    write('scripts/run.py')
    expect(findScript(directory, undefined)).toMatchObject({
      kind: 'broken',
      diagnostic: { code: 'script-ambiguous' },
    })
  })

  it.each([
    ['../outside.sh', 'script-outside'],
    ['/bin/sh', 'script-outside'],
    ['scripts\\run.sh', 'script-outside'],
    ['scripts/none.sh', 'script-missing'],
    ['scripts', 'script-outside'],
    ['link.sh', 'script-outside'],
  ])('is refused as %s', (run, code) => {
    write('scripts/run.sh')
    symlinkSync('/bin/sh', join(directory, 'link.sh'))
    expect(findScript(directory, run)).toMatchObject({ kind: 'broken', diagnostic: { code } })
  })

  it('is a diagnostic if nothing says how to start it', () => {
    write('scripts/run', 'no shebang', 0o644)
    expect(findScript(directory, undefined)).toMatchObject({
      kind: 'broken',
      diagnostic: { code: 'script-not-executable' },
    })
  })

  it('can have a second script that verifies', () => {
    expect(findVerifyScript(directory).kind).toBe('none')
    write('scripts/verify.sh')
    expect(findVerifyScript(directory)).toMatchObject({ script: { relative: 'scripts/verify.sh' } })
  })

  it('can be empty if its name determines the interpreter', () => {
    write('scripts/run.py', '')
    const search = findScript(directory, undefined)
    expect(search.kind).toBe('found')
  })

  it.each(['#!/bin/false', `#!/bin/false ${'x'.repeat(300)}`])(
    'is recognised by at most its first 256 bytes: %s',
    (line) => {
      const long = `${line}\n`.padEnd(20_000, 'x')
      const [, argument] = line.slice(0, 256).split(' ')
      const args = argument === undefined ? [] : [argument]
      for (const text of [line, `${line}\n`, long]) {
        write('scripts/run', text, 0o644)
        const path = join(realpathSync(directory), 'scripts/run')
        expect(findScript(directory, undefined)).toMatchObject({
          script: { file: '/bin/false', args: [...args, path] },
        })
      }
    },
  )

  it('is read again after it was replaced, also by a link out of the skill', () => {
    write('scripts/run')
    const outside = mkdtempSync(join(tmpdir(), 'skillrail-outside-'))
    writeFileSync(join(outside, 'run'), '#!/bin/sh\n', { mode: 0o755 })
    expect(findScript(directory, 'scripts/run').kind).toBe('found')
    expect(findScript(directory, 'scripts/run').kind).toBe('found')
    rmSync(join(directory, 'scripts/run'))
    symlinkSync(join(outside, 'run'), join(directory, 'scripts/run'))
    expect(findScript(directory, 'scripts/run')).toMatchObject({
      kind: 'broken',
      diagnostic: { code: 'script-outside' },
    })
    rmSync(outside, { recursive: true })
  })
})

describe('how a script is started', () => {
  const node = process.execPath
  it.each([
    ['/s/run.sh', '', false, ['sh', '/s/run.sh']],
    ['/s/run.sh', '#!/bin/bash\n', true, ['/s/run.sh']],
    ['/s/run.sh', '#!/bin/bash -e\n', false, ['/bin/bash', '-e', '/s/run.sh']],
    ['/s/run.sh', '#!/usr/bin/env bash\r\n', false, ['bash', '/s/run.sh']],
    ['/s/run.py', '', false, ['python3', '/s/run.py']],
    ['/s/run.ts', '', false, [node, '/s/run.ts']],
    ['/s/run.mjs', '#!/usr/bin/env node\n', true, [node, '/s/run.mjs']],
    ['/s/run', '#!/usr/bin/env -S node --no-warnings\n', true, [node, '--no-warnings', '/s/run']],
    ['/s/run.ts', '#!/usr/bin/env bun\n', false, ['bun', '/s/run.ts']],
    ['/s/run.py', '#!/usr/bin/env python3\n', true, ['python3', '/s/run.py']],
    ['/s/run', '#!/usr/bin/env python3\r\n', true, ['/s/run']],
    ['/s/run', '#!/bin/env -S A=1 sh -e\n', true, ['/bin/env', 'A=1', 'sh', '-e', '/s/run']],
    ['/s/run', '\u007fELF', true, ['/s/run']],
    ['/s/run', '', false, undefined],
  ])(
    'depends on name, first line and run bit: %s with %j, run bit %s',
    (path, head, executable, expected) => {
      const started = interpreterFor({ path, head, executable, platform: 'linux' })
      expect(started === undefined ? undefined : [started.file, ...started.args]).toEqual(expected)
    },
  )

  it('needs no Unix shell on Windows', () => {
    const script = { head: '#!/usr/bin/env python\n', executable: true, platform: 'win32' } as const
    expect(interpreterFor({ path: 'C:\\s\\run.py', ...script })?.file).toBe('python')
  })
})
