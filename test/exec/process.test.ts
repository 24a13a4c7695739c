import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessRequest, runProcess } from '../../src/exec/process.ts'
import { until, withinLimit } from '../patience.ts'

describe('running a process', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'skillrail-exec-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const shell = (script: string, more: Partial<ProcessRequest> = {}) =>
    runProcess({
      file: '/bin/sh',
      args: ['-c', script],
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '' },
      outputLimit: 1024,
      ...more,
    })

  it('captures both streams and the exit code', async () => {
    const result = await shell('echo out; echo err >&2; exit 7')
    expect(result.end).toEqual({ kind: 'exit', code: 7 })
    expect([result.stdout.head, result.stderr.head]).toEqual(['out\n', 'err\n'])
  })

  it('starts the child with exactly the environment of the request', async () => {
    const result = await runProcess({
      file: process.execPath,
      args: ['-p', 'Object.keys(process.env).sort().join()'],
      cwd: directory,
      env: { ONLY: '1' },
      outputLimit: 4096,
    })
    expect(result.stdout.head.trim()).toBe('ONLY')
  })

  it('writes stdin, and survives a program that never reads it', async () => {
    expect((await shell('cat', { stdin: 'hello' })).stdout.head).toBe('hello')
    expect((await shell('exec true', { stdin: 'x'.repeat(5_000_000) })).end).toEqual({
      kind: 'exit',
      code: 0,
    })
  })

  it('keeps head and tail of a huge output and counts the rest', async () => {
    const result = await shell('seq 1 200000')
    expect(result.stdout.head.startsWith('1\n2\n3\n')).toBe(true)
    expect(result.stdout.tail.endsWith('199999\n200000\n')).toBe(true)
    const kept = result.stdout.head.length + result.stdout.tail.length
    expect(kept).toBeLessThanOrEqual(1024)
    expect(result.stdout.droppedBytes).toBeGreaterThan(1_287_000)
  })

  it('reads binary output', async () => {
    const result = await shell("printf '\\377\\000\\376'")
    expect(result.stdout.head).toBe('\ufffd\0\ufffd')
  })

  it('ends the whole group at the time-out, also processes that ignore TERM', async () => {
    const pids = join(directory, 'pids')
    const script = `trap '' TERM; (trap '' TERM; echo $$ > ${pids}; sleep 30) & sleep 30`
    const result = await withinLimit(
      200,
      (timeoutMs) => shell(script, { timeoutMs }),
      () => existsSync(pids),
    )
    expect(result.end).toEqual({ kind: 'timeout' })
    const pid = Number(readFileSync(pids, 'utf8'))
    await until(() => !isRunning(pid))
  })

  it.runIf(process.platform === 'linux')(
    'ends processes at the time-out that have left the group but carry its idempotency key',
    async () => {
      const pids = join(directory, 'pids')
      const key = `${directory}/escaped`
      const leaves = `setsid sh -c 'trap "" TERM; echo $$ > ${pids}; sleep 60; :' & sleep 60`
      const { end } = await withinLimit(
        200,
        (timeoutMs) =>
          shell(leaves, {
            timeoutMs,
            env: { PATH: process.env['PATH'] ?? '', SKILLRAIL_IDEMPOTENCY_KEY: key },
          }),
        () => existsSync(pids),
      )
      expect(end).toEqual({ kind: 'timeout' })
      await until(() => !isRunning(Number(readFileSync(pids, 'utf8'))))
    },
  )

  it('ends a program that prints endlessly at the time-out', async () => {
    for (const script of [
      'while :; do echo x; done',
      'exec yes',
      'while :; do echo x; sleep 0.01; done',
    ]) {
      expect((await shell(script, { timeoutMs: 300 })).end).toEqual({ kind: 'timeout' })
    }
  })

  it('ends at once if every process in the group obeys TERM', async () => {
    const marker = join(directory, 'cleaned')
    const script = `trap 'echo x > ${marker}; exit 0' TERM; sleep 30 & echo ready; wait`
    const controller = new AbortController()
    const { end } = await shell(script, {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    expect(end).toEqual({ kind: 'aborted' })
    expect(existsSync(marker)).toBe(true)
  })

  it('does not start after an abort', async () => {
    const result = await shell('echo never > started', { signal: AbortSignal.abort() })
    expect(result.end).toEqual({ kind: 'aborted' })
    expect(existsSync(join(directory, 'started'))).toBe(false)
  })

  it('does not wait for a background process with open pipes', async () => {
    const result = await shell('sleep 30 & echo $! ; exit 0')
    expect(result.end).toEqual({ kind: 'exit', code: 0 })
    process.kill(Number(result.stdout.head.trim()), 'SIGKILL')
  })

  it('continues to read after stdout was closed', async () => {
    const result = await shell('exec 1>&-; echo still >&2; exit 4')
    expect(result.end).toEqual({ kind: 'exit', code: 4 })
    expect(result.stderr.head).toBe('still\n')
  })

  it('names the signal that ended it', async () => {
    expect((await shell('kill -KILL $$')).end).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  })

  it('uses a file as stdin, from its beginning', async () => {
    const file = join(directory, 'input')
    writeFileSync(file, 'from a file')
    expect((await shell('cat', { stdin: { file } })).stdout.head).toBe('from a file')
    expect((await shell('cat', { stdin: { file } })).stdout.head).toBe('from a file')
    const missing = await shell('cat', { stdin: { file: join(directory, 'none') } })
    expect(missing.end.kind).toBe('not-started')
  })

  it('distinguishes a signal from the exit code that a shell derives from it', async () => {
    expect((await shell('exit 137')).end).toEqual({ kind: 'exit', code: 137 })
    expect((await shell('exit 127')).end).toEqual({ kind: 'exit', code: 127 })
    expect((await shell('kill -TERM $$')).end).toEqual({ kind: 'signal', signal: 'SIGTERM' })
  })

  it('passes on arguments and values unchanged, empty ones too', async () => {
    const given = ['', 'a b', "it's", '$HOME', 'ä\n*', '']
    const result = await runProcess({
      file: process.execPath,
      args: ['-e', 'console.log(JSON.stringify([process.argv.slice(1), process.env.V]))', ...given],
      cwd: directory,
      env: { V: ' =\n"ü" ' },
      outputLimit: 4096,
    })
    expect(JSON.parse(result.stdout.head)).toEqual([given, ' =\n"ü" '])
  })

  it.runIf(process.platform === 'linux')(
    'leaves no descriptor of Skillrail open in the program',
    async () => {
      const script = 'ls /proc/self/fd'
      // What whoever started the tests left open is there in any case.
      const inherited = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
      expect((await shell(script)).stdout.head).toBe(inherited)
    },
  )

  it('starts the program with default signals and in a separate process group', async () => {
    const result = await shell('(kill -PIPE $$); echo survived')
    expect(result.end).toEqual({ kind: 'signal', signal: 'SIGPIPE' })
    const group = await shell('ps -o pgid= -p $$; echo $$')
    const [leader, own] = group.stdout.head.trim().split(/\s+/)
    expect(leader).toBe(own)
  })

  it('reports output while the program runs', async () => {
    const controller = new AbortController()
    const heard: string[] = []
    const result = await shell('echo one >&2; echo two; sleep 30', {
      signal: controller.signal,
      onOutput(chunk, stream) {
        heard.push(`${stream} ${chunk.toString().trim()}`)
        if (heard.length === 2) controller.abort()
      },
    })
    expect(heard.toSorted()).toEqual(['stderr one', 'stdout two'])
    expect(result.end).toEqual({ kind: 'aborted' })
  })

  it('never mixes the output of a background process with the next program', async () => {
    const left = await shell('(while :; do echo left; sleep 0.01; done) & echo $!')
    const next = await shell('sleep 0.3; echo next')
    process.kill(Number(left.stdout.head.split('\n').find((line) => /^\d+$/.test(line))), 'SIGKILL')
    expect(next.stdout.head).toBe('next\n')
  })

  it('ends a program that has just started', async () => {
    const controller = new AbortController()
    const running = shell('sleep 30', { signal: controller.signal })
    controller.abort()
    expect((await running).end).toEqual({ kind: 'aborted' })
  })

  it('reports why a program could not be started', async () => {
    const missing = await runProcess({
      file: join(directory, 'nothing'),
      args: [],
      cwd: directory,
      env: {},
      outputLimit: 10,
    })
    expect(missing.end).toEqual({
      kind: 'not-started',
      message: `spawn ${join(directory, 'nothing')} ENOENT`,
    })
    writeFileSync(join(directory, 'plain'), 'x', { mode: 0o600 })
    const plain = await shell('', { file: join(directory, 'plain') })
    expect(plain.end).toEqual({
      kind: 'not-started',
      message: `permission is denied (spawn ${join(directory, 'plain')} EACCES)`,
    })
  })

  it.runIf(process.platform !== 'win32').each([
    ['#!/bin/sh\r\necho hi\r\n', /^its first line, #!\/bin\/sh, ends with a carriage return/],
    [
      '#! /none/such -x\n',
      /^its first line names the interpreter \/none\/such, which does not exist/,
    ],
  ])('names the missing program of a script: %j', async (text, expected) => {
    const file = join(directory, 'script')
    writeFileSync(file, text, { mode: 0o755 })
    const { end } = await shell('', { file })
    expect(end).toEqual({ kind: 'not-started', message: expect.stringMatching(expected) })
    expect(end).toMatchObject({ message: expect.stringMatching(/ \(spawn \S+script ENOENT\)$/) })
  })

  it('names a directory that is missing', async () => {
    const cwd = join(directory, 'nothing')
    const { end } = await shell('', { cwd })
    const message = `the directory it is to run in, ${cwd}, does not exist (spawn /bin/sh ENOENT)`
    expect(end).toEqual({ kind: 'not-started', message })
  })

  it('starts the next program after one whose directory or input is missing', async () => {
    const missing = join(directory, 'nothing')
    for (const more of [{ cwd: missing }, { stdin: { file: missing } }]) {
      const { end } = await shell('echo never', more)
      expect(end).toMatchObject({ kind: 'not-started', message: expect.stringContaining('ENOENT') })
      const { stdout, stderr } = await shell('cat; echo out; echo err >&2')
      expect({ stdout: stdout.head, stderr: stderr.head }).toEqual({
        stdout: 'out\n',
        stderr: 'err\n',
      })
    }
  })

  it.skipIf(!existsSync('/proc/self/fd'))('passes on three descriptors and no other', async () => {
    const { stdout } = await shell('ls /proc/self/fd')
    // What we were given open ourselves stays so; the last one is the directory that is listed.
    const usual = execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' })
    expect(stdout.head).toBe(usual)
  })
})

it('does not leave a program behind when Skillrail ends before it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-exit-'))
  const pids = join(directory, 'pids')
  const module = new URL('../../src/exec/process.ts', import.meta.url).href
  const request: ProcessRequest = {
    file: '/bin/sh',
    args: ['-c', `trap '' TERM; echo $$ > ${pids}; echo on; sleep 60; :`],
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '' },
    outputLimit: 10,
  }
  const host = `import { runProcess } from '${module}'
await runProcess({ ...${JSON.stringify(request)}, onOutput: () => process.exit(3) })`
  writeFileSync(join(directory, 'host.mjs'), host)
  const { status } = spawnSync(process.execPath, ['--no-warnings', join(directory, 'host.mjs')])
  expect(status).toBe(3)
  const pid = Number(readFileSync(pids, 'utf8'))
  await until(() => !isRunning(pid))
  rmSync(directory, { recursive: true })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
