import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openQuickPipes, type Readiness } from '../../src/exec/_launcher-pipes.ts'
import { openLauncher, type ProcessRequest } from '../../src/exec/index.ts'
import { until, withinLimit } from '../patience.ts'

const there = existsSync('/usr/bin/perl')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-launcher-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const shell = (script: string, more: Partial<ProcessRequest> = {}): ProcessRequest => ({
  file: '/bin/sh',
  args: ['-c', script],
  cwd: directory,
  env: { PATH: process.env['PATH'] ?? '' },
  outputLimit: 1024,
  ...more,
})

/** What says how many descriptors a process may have. */
const limiter = '/usr/bin/prlimit'
const hasLimits = existsSync('/proc/self/fd') && existsSync(limiter)

/** The process that started the program, which the launcher is and we are not. */
const parentOf = 'echo $PPID'

it('starts programs directly where there is no interpreter for it, or a broken one', async () => {
  for (const perl of [join(directory, 'none'), '/bin/true', '/bin/false']) {
    const launcher = openLauncher(perl)
    const { end, stdout } = await launcher.run(shell(parentOf))
    expect(end).toEqual({ kind: 'exit', code: 0 })
    expect(Number(stdout.head)).toBe(process.pid)
    await launcher.close()
  }
})

describe.runIf(there)('the launcher', () => {
  it('is one process for all programs, and ends when it is closed', async () => {
    const launcher = openLauncher()
    const parents = new Set<number>()
    for (let count = 0; count < 30; count++) {
      const { stdout } = await launcher.run(shell(parentOf))
      parents.add(Number(stdout.head))
    }
    expect(parents.size).toBe(1)
    const [parent = 0] = parents
    expect(parent).not.toBe(process.pid)
    await launcher.close()
    expect(() => process.kill(parent, 0)).toThrow('ESRCH')
  })

  it('lets timers be heard between short programs', async () => {
    const launcher = openLauncher()
    const heard: string[] = []
    setTimeout(() => heard.push('timer'), 1)
    for (let count = 0; count < 1000 && heard.length === 0; count++) await launcher.run(shell(':'))
    expect(heard).toEqual(['timer'])
    await launcher.close()
  })

  it('starts a second program at the same time directly', async () => {
    const launcher = openLauncher()
    const both = await Promise.all([
      launcher.run(shell(`sleep 0.2; ${parentOf}`)),
      launcher.run(shell(parentOf)),
    ])
    const parents = both.map(({ stdout }) => Number(stdout.head))
    expect(parents[0]).not.toBe(process.pid)
    expect(parents[1]).toBe(process.pid)
    await launcher.close()
  })

  it('leaves to us what it has no words for', async () => {
    const launcher = openLauncher()
    const input = relative(process.cwd(), join(directory, 'input'))
    writeFileSync(input, 'given\n')
    const unsuited: [Partial<ProcessRequest>, string][] = [
      [{ stdin: 'text\n' }, 'text\n'],
      [{ stdin: { file: input } }, 'given\n'],
      [{ cwd: relative(process.cwd(), directory) }, ''],
      [{ descriptors: new Map([[3, { holds: Buffer.from('three\n') }]]) }, 'three\n'],
    ]
    for (const [more, expected] of unsuited) {
      const script = `${parentOf}; cat; [ ! -e /dev/fd/3 ] || cat <&3`
      const { stdout } = await launcher.run(shell(script, more))
      expect(stdout.head).toBe(`${process.pid}\n${expected}`)
    }
    const { end } = await launcher.run(shell(':', { env: { ['A\0B']: '' } }))
    expect(end.kind).toBe('not-started')
    await launcher.close()
  })

  it('leaves us free to do other things once a program is to be ended', async () => {
    const launcher = openLauncher()
    const [written, seen] = [join(directory, 'written'), join(directory, 'seen')]
    const controller = new AbortController()
    const look = `[ -e ${written} ] && { echo > ${seen}; exit; }`
    const script = `trap '' TERM; echo first; for i in $(seq 100); do ${look}; sleep 0.02; done`
    const onOutput = (): void => {
      setTimeout(() => writeFileSync(written, ''), 1)
      controller.abort()
    }
    const { end } = await launcher.run(shell(script, { signal: controller.signal, onOutput }))
    expect([end, existsSync(seen)]).toEqual([{ kind: 'aborted' }, true])
    await launcher.close()
  })

  it.runIf(hasLimits)('is as before after it had too few descriptors', async () => {
    const launcher = openLauncher()
    const { stdout } = await launcher.run(shell(parentOf))
    const parent = stdout.head.trim()
    const limitTo = (count: number | string): void =>
      void spawnSync(limiter, [`--pid=${parent}`, `--nofile=${count}:`])
    for (let count = 0; count < 20; count++) {
      limitTo(count)
      const { end } = await launcher.run(shell(parentOf))
      expect(end.kind === 'not-started' ? end.message : end.kind).toMatch(
        /^exit$|^too many files are open .* EMFILE\)$/,
      )
      const open = readdirSync(`/proc/${parent}/fd`)
      expect(['0', '1', '2'].filter((number) => open.includes(number))).toEqual(['0'])
      limitTo(64)
      const next = await launcher.run(shell(`${parentOf}; cat; echo err >&2`))
      expect([next.stdout.head, next.stderr.head]).toEqual([stdout.head, 'err\n'])
    }
    await launcher.close()
  })

  it('takes megabytes of both streams in order', async () => {
    const launcher = openLauncher()
    const { stdout, stderr } = await launcher.run(
      shell('seq 1 300000; seq 1 300000 >&2', { outputLimit: 10_000_000 }),
    )
    await launcher.close()
    const expected = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join('')
    expect(stdout.head === expected && stderr.head === expected).toBe(true)
  })

  it('does not outlive us, nor does its program, when we are killed', async () => {
    const module = new URL('../../src/exec/index.ts', import.meta.url).href
    const script = `echo $PPID $$ > ${join(directory, 'pids')}; exec sleep 60`
    writeFileSync(
      join(directory, 'host.mjs'),
      `import { openLauncher } from '${module}'
await openLauncher().run(${JSON.stringify(shell(script))})`,
    )
    const host = spawn(process.execPath, [join(directory, 'host.mjs')], { stdio: 'ignore' })
    const pids = await readPids(join(directory, 'pids'))
    expect(pids).toHaveLength(2)
    host.kill('SIGKILL')
    await until(() => !pids.some(isRunning))
  })

  it('ends the program, and starts the next one directly, when somebody kills it', async () => {
    // It says 50 ms after the start which process the program is: later, on a busy machine.
    const killedAfter = async (moment: number): Promise<boolean> => {
      const launcher = openLauncher()
      const file = join(directory, `pids-${moment}`)
      const running = launcher.run(shell(`echo $PPID $$ > ${file}; exec sleep 60`))
      const [parent = 0, pid = 0] = await readPids(file)
      await sleep(moment)
      process.kill(parent, 'SIGKILL')
      expect((await running).end).toEqual({ kind: 'signal', signal: 'SIGKILL' })
      const { stdout } = await launcher.run(shell(parentOf))
      expect(Number(stdout.head)).toBe(process.pid)
      await launcher.close()
      for (let tries = 0; tries < 100 && isRunning(pid); tries++) await sleep(20)
      const ended = !isRunning(pid)
      if (!ended) process.kill(pid, 'SIGKILL')
      return ended
    }
    expect(await withinLimit(300, killedAfter, (ended) => ended)).toBe(true)
  })

  it.runIf(process.platform === 'linux')(
    'ends the program also where nobody has said yet which process it is',
    async () => {
      const launcher = openLauncher()
      const file = join(directory, 'pids')
      const { end } = await launcher.run(
        shell(`echo $$ > ${file}; kill -KILL $PPID; exec sleep 60`, {
          env: { PATH: process.env['PATH'] ?? '', SKILLRAIL_IDEMPOTENCY_KEY: `${directory}/1:a` },
        }),
      )
      expect(end).toEqual({ kind: 'signal', signal: 'SIGKILL' })
      const [pid = 0] = await readPids(file)
      await until(() => hasEnded(pid))
      await launcher.close()
    },
  )

  it('ends the program that still runs when it is closed, and says so', async () => {
    const launcher = openLauncher()
    const file = join(directory, 'pids')
    const running = launcher.run(shell(`echo $PPID $$ > ${file}; exec sleep 60`))
    const pids = await readPids(file)
    await launcher.close()
    expect((await running).end).toMatchObject({ kind: 'signal' })
    await until(() => !pids.some(isRunning))
  })
})

describe.runIf(existsSync('/proc/self/status') && there)('a launcher that is stopped', () => {
  it('goes on, whoever stopped it', async () => {
    const launcher = openLauncher()
    for (const script of ['kill -STOP $PPID; echo on', 'sleep 0.1; kill -STOP $PPID; echo on']) {
      const { end, stdout } = await launcher.run(shell(script))
      expect([end, stdout.head]).toEqual([{ kind: 'exit', code: 0 }, 'on\n'])
    }
    const { stdout } = await launcher.run(shell(parentOf))
    process.kill(Number(stdout.head), 'SIGSTOP')
    expect((await launcher.run(shell(parentOf))).stdout.head).toBe(stdout.head)
    await launcher.close()
  })

  it.each(['SIGSTOP', 'SIGKILL'] as const)(
    'has a keeper that can get a %s without harm to us',
    async (signal) => {
      const launcher = openLauncher()
      const { stdout } = await launcher.run(shell(parentOf))
      const parent = Number(stdout.head)
      const keeper = parentIdOf(parent)
      const name = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      expect([name(parent), name(keeper)].map((line) => line.split(/[ \0]/)[0])).toEqual([
        'skillrail-launcher',
        'skillrail-keeper',
      ])
      process.kill(keeper, signal)
      if (signal === 'SIGKILL') await until(() => !isRunning(keeper))
      expect((await launcher.run(shell('echo on'))).stdout.head).toBe('on\n')
      await launcher.close()
      // Where nobody takes in orphans, one that has ended keeps its number.
      await until(() => hasEnded(parent) && hasEnded(keeper))
    },
  )

  it('is known to be gone, also when its keeper is stopped', async () => {
    const launcher = openLauncher()
    const file = join(directory, 'pids')
    const running = launcher.run(shell(`echo $PPID > ${file}; sleep 2; kill -KILL $$`))
    const [parent = 0] = await readPids(file)
    const keeper = parentIdOf(parent)
    process.kill(keeper, 'SIGSTOP')
    process.kill(parent, 'SIGKILL')
    expect((await running).end).toEqual({ kind: 'signal', signal: 'SIGKILL' })
    const { stdout } = await launcher.run(shell(parentOf))
    expect(Number(stdout.head)).toBe(process.pid)
    await launcher.close()
    expect(isRunning(keeper)).toBe(false)
  })

  it('ends when it is closed, also when its keeper is stopped with it', async () => {
    const launcher = openLauncher()
    const parent = Number((await launcher.run(shell(parentOf))).stdout.head)
    const keeper = parentIdOf(parent)
    process.kill(keeper, 'SIGSTOP')
    process.kill(parent, 'SIGSTOP')
    await launcher.close()
    expect(isRunning(parent) || isRunning(keeper)).toBe(false)
  })
})

describe('a program that is no launcher', () => {
  const fake = (body: string): string => {
    const path = join(directory, 'perl')
    writeFileSync(path, `#!/bin/sh\necho $$ > ${join(directory, 'pid')}\n${body}\n`, {
      mode: 0o755,
    })
    return path
  }

  it.each([
    ['prints something else', 'echo ready; exec cat'],
    ['prints without end', 'exec yes'],
    ['says more than that it is ready', `printf 'R\\0\\0\\0\\0111 2 3 4 5X'; exec cat`],
    ['names no process', `printf 'R\\0\\0\\0\\0111 2 3 4 x'; exec cat`],
  ])('is ended and done without when it %s', async (_what, body) => {
    const launcher = openLauncher(fake(body))
    const { stdout } = await launcher.run(shell(parentOf))
    expect(Number(stdout.head)).toBe(process.pid)
    const [pid = 0] = await readPids(join(directory, 'pid'))
    await until(() => !isRunning(pid))
    await launcher.close()
  })

  it.each([
    ['sleeps', 'sleep 60'],
    ['only echoes', 'exec cat'],
    ['says half of it', `printf 'R\\0\\0'; exec cat`],
  ])('is ended after a while when it %s', async (_what, body) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const launcher = openLauncher(fake(body))
    const running = launcher.run(shell(parentOf))
    const [pid = 0] = await readPids(join(directory, 'pid'))
    vi.runAllTimers()
    vi.useRealTimers()
    const { stdout } = await running
    expect(Number(stdout.head)).toBe(process.pid)
    await until(() => !isRunning(pid))
    await launcher.close()
  })
})

describe.runIf(existsSync('/proc/self/fd'))('the pipes of a launcher', () => {
  const leadingTo = (descriptor: number, inode = fstatSync(descriptor).ino): Readiness => {
    const end = { descriptor, inode }
    return { pid: process.pid, asks: end, tells: end }
  }

  it('are not taken for those of another process that has its number', () => {
    const descriptor = openSync(join(directory, 'file'), 'w+')
    const open = readdirSync('/proc/self/fd').length
    expect(openQuickPipes(leadingTo(descriptor, 1))).toBe(undefined)
    expect(readdirSync('/proc/self/fd')).toHaveLength(open)
    closeSync(descriptor)
  })

  it('take nothing more once their input is closed, whoever has its number then', () => {
    const ours = openSync(join(directory, 'ours'), 'w+')
    const pipes = openQuickPipes(leadingTo(ours))
    pipes?.write(Buffer.from('asked'))
    pipes?.closeInput()
    const others = Array.from({ length: 9 }, (_, n) => openSync(join(directory, `file${n}`), 'w'))
    pipes?.write(Buffer.from('too late'))
    pipes?.close()
    for (const descriptor of [ours, ...others]) closeSync(descriptor)
    const written = readdirSync(directory).map((name) =>
      readFileSync(join(directory, name), 'utf8'),
    )
    expect(written.join('')).toBe('asked')
  })
})

async function readPids(file: string): Promise<number[]> {
  const text = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  await until(() => text().endsWith('\n'))
  return text().trim().split(' ').map(Number)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Also of one that has ended and that nobody has taken notice of. */
function hasEnded(pid: number): boolean {
  return !isRunning(pid) || /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

function parentIdOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1])
}
