import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest'
import { type HookJson, makeSession, patient } from './_session.ts'

const release = {
  release: {
    metadata: [
      'chain: |',
      '  lint',
      '  implement check="sh check.sh"',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  lint: { run: 'echo linted' },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

type Session = ReturnType<typeof makeSession>

/** A session whose state directory is a file system of its own. */
interface DiskSession extends Session {
  /** Leaves only this number of bytes free. */
  fill(free?: number): void
  empty(): void
  makeReadOnly(): void
  makeWritable(): void
  /** How often the check of `implement` ran. */
  checks(): number
}

/** Skips the test if this account cannot mount a file system. */
function makeOnDisk({ skip }: TestContext): DiskSession {
  const session = makeSession(release, 'claude', patient)
  session.write('check.sh', 'echo ran >> ran.txt\ntest -f done.txt\n')
  const state = join(session.home, '.local/state')
  mkdirSync(state, { recursive: true })
  const options = 'size=1m,mode=0700'
  if (!isDone('mount', '-t', 'tmpfs', '-o', options, 'skillrail-test', state)) {
    skip('no file system can be mounted here')
  }
  onTestFinished(() => void isDone('umount', '--lazy', state))
  const filler = join(state, 'filler')
  function empty(): void {
    rmSync(filler, { force: true })
  }
  return {
    ...session,
    empty,
    fill(free = 0) {
      empty()
      const { bavail, bsize } = statfsSync(state)
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)))
    },
    makeReadOnly() {
      expect(isDone('mount', '-o', 'remount,ro', state)).toBe(true)
    },
    makeWritable() {
      expect(isDone('mount', '-o', 'remount,rw', state)).toBe(true)
    },
    checks() {
      const path = join(session.directory, 'ran.txt')
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
    },
  }
}

function isDone(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0
}

type Fault = [breaks: (session: DiskSession) => void, repairs: (session: DiskSession) => void]

const faults: Readonly<Record<string, Fault>> = {
  'is full': [(session) => session.fill(), (session) => session.empty()],
  'is read-only': [(session) => session.makeReadOnly(), (session) => session.makeWritable()],
}

const told = (answer: HookJson | undefined): string =>
  `${answer?.systemMessage ?? ''}${answer?.hookSpecificOutput?.additionalContext ?? ''}`

/** How often the journals say that a step is done and verified. */
function verified({ home }: Session): number {
  const state = join(home, '.local/state/skillrail')
  if (!existsSync(state)) return 0
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
  const journals = files.filter((name) => /runs\/[^/]+\.jsonl$/.test(name))
  const lines = journals.flatMap((name) => readFileSync(join(state, name), 'utf8').split('\n'))
  return lines.filter((line) => /"type":"done".*"evidence":"verified"/.test(line)).length
}

/** Types what the messages name, until the chain waits at its gate. The guard denies until then. */
async function expectToContinue(session: Session): Promise<void> {
  const answers: string[] = []
  for (let index = 0; index < 3 && session.standing() !== 'approval'; index++) {
    const words = session.standing() === '' ? '/release' : 'rail retry'
    answers.push(told(await session.prompt(words)))
    expect(await session.bash('git push')).toContain('belongs to the step')
    answers.push(told(await session.stop()))
  }
  expect({ answers, standing: session.standing() }).toMatchObject({ standing: 'approval' })
  expect(verified(session)).toBe(1)
}

describe.each(Object.entries(faults))(
  'a rail whose state is on a disk that %s',
  (_, [breaks, repairs]) => {
    it('does not start, and says so', async (context) => {
      const session = makeOnDisk(context)
      breaks(session)
      expect(told(await session.prompt('/release'))).toContain('did not start')
      session.write('done.txt', 'x')
      expect(await session.stop()).toBeUndefined()
      expect(session.checks()).toBe(0)
      repairs(session)
      await expectToContinue(session)
    })

    it('checks nothing, opens no gate, keeps its guard and lets each turn end', async (context) => {
      const session = makeOnDisk(context)
      await session.prompt('/release')
      session.write('done.txt', 'x')
      breaks(session)
      const stopped = await session.stop()
      expect(told(stopped)).toContain('cannot continue')
      for (const answer of [stopped, await session.stop()]) expect(answer?.decision).toBeUndefined()
      expect(told(await session.prompt('go on'))).toContain('cannot continue')
      expect(await session.bash('git push')).toContain('belongs to the step')
      expect([session.checks(), verified(session)]).toEqual([0, 0])
      repairs(session)
      await expectToContinue(session)

      breaks(session)
      expect(told(await session.prompt('rail approve'))).toContain('cannot continue')
      expect(session.approvals()).toEqual([])
      expect(await session.bash('git push')).toContain('belongs to the step')
      repairs(session)
      await session.prompt('rail approve')
      expect(await session.bash('git push')).toBeUndefined()
    })
  },
)

// What fits decides at which of its files a start fails: before or after the rail has a state.
it.for([16, 24])(
  'a rail at whose start %i KiB are left does not start, or says how to continue it',
  async (free, context) => {
    const session = makeOnDisk(context)
    session.fill(free * 1024)
    const started = told(await session.prompt('/release'))
    session.write('done.txt', 'x')
    expect(started).toContain(session.standing() === '' ? 'did not start' : 'rail retry')
    const push = (await session.bash('git push')) ?? ''
    expect(push.includes('belongs to the step')).toBe(session.standing() !== '')
    expect((await session.stop())?.decision).toBeUndefined()
    expect([session.checks(), verified(session)]).toEqual([0, 0])
    session.empty()
    await expectToContinue(session)
  },
)
