import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addRail, readRail } from '../../src/rail/session.ts'
import { type HookJson, makeSession, patient } from './_session.ts'
import { makeRail, runtimeIn, temporaryHome, writers } from './_state.ts'

const preload = fileURLToPath(new URL('../chain/_fault-preload.mjs', import.meta.url))
const kills = Number(process.env['SKILLRAIL_TEST_KILLS'] ?? '10')

const release = {
  release: {
    metadata: [
      'chain: |',
      '  lint',
      '  implement check="sh check.sh"',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  lint: { run: 'sleep 0.2; echo linted' },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

type Session = ReturnType<typeof makeSession>

function makeRelease(check: string): Session {
  const session = makeSession(release, 'claude', patient)
  session.write('check.sh', `echo ran >> ran.txt\n${check}\ntest -f done.txt\n`)
  return session
}

const railsOf = ({ home }: Session): string => join(home, '.local/state/skillrail/rails')

/** The process that works on the rail; it has the lock beside the session's file. */
function worker(session: Session): number | undefined {
  const directory = railsOf(session)
  const names = existsSync(directory) ? readdirSync(directory) : []
  const lock = names.find((name) => name.endsWith('.json.lock'))
  if (lock === undefined) return undefined
  try {
    return Number(JSON.parse(readFileSync(join(directory, lock), 'utf8')).pid)
  } catch {
    return undefined
  }
}

async function killWorker(session: Session, afterMs: number): Promise<void> {
  let pid: number | undefined
  await expect.poll(() => (pid = worker(session)), { interval: 5, timeout: 30_000 }).toBeDefined()
  await sleep(afterMs)
  try {
    process.kill(pid ?? 0, 'SIGKILL')
  } catch {
    // It was faster.
  }
}

/** As a user does: prompts and ends of turns until the chain waits for an approval. */
async function untilApproval(session: Session): Promise<void> {
  session.write('done.txt', 'x')
  const answers: (HookJson | undefined)[] = []
  for (let index = 0; index < 6; index++) {
    answers.push(await session.prompt(hasStarted(session) ? 'Go on.' : '/release'))
    await session.call('Write', { file_path: 'a.txt', content: 'x' })
    expect(await session.bash('git push')).toContain('belongs to the step')
    const stopped = await session.stop()
    answers.push(stopped)
    if (stopped?.systemMessage?.includes('waits for your approval') === true) return
    if (JSON.stringify(await session.prompt('rail status')).includes('approval')) return
  }
  expect(answers).toEqual(['the chain never came to its gate'])
}

/** Whether the chain has a run. If it did not start, the rail has only its guards. */
function hasStarted(session: Session): boolean {
  const directory = railsOf(session)
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names
    .filter((name) => name.endsWith('.json'))
    .some((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')).runId !== '')
}

/** How often the journals of the session say that a step is done and verified. */
function verified(session: Session): number {
  const state = join(session.home, '.local/state/skillrail')
  const files = existsSync(state)
    ? readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /runs\/[^/]+\.jsonl$/.test(name),
      )
    : []
  const lines = files.flatMap((name) => readFileSync(join(state, name), 'utf8').split('\n'))
  return lines.filter((line) => /"type":"done".*"evidence":"verified"/.test(line)).length
}

describe('a rail whose process is killed', () => {
  it('during a check counts no step as done, and checks again', async () => {
    for (let round = 0; round < Math.min(kills, 4); round++) {
      const session = makeRelease('test -f fast || sleep 5')
      await session.prompt('/release')
      session.write('done.txt', 'x')
      const [stopped] = await Promise.all([session.stop(), killWorker(session, 400 + round * 100)])
      expect(stopped?.decision).toBeUndefined()
      expect(verified(session)).toBe(0)
      expect(await session.bash('git push')).toContain('belongs to the step')
      expect(await session.stop()).toBeUndefined()
      session.write('fast', '')
      await untilApproval(session)
      expect(verified(session)).toBe(1)
    }
  })

  it('at any moment of its start continues or does not start', async () => {
    for (let round = 0; round < kills; round++) {
      const session = makeRelease('true')
      const [started] = await Promise.all([
        session.prompt('/release'),
        killWorker(session, round * 60),
      ])
      expect(started?.hookSpecificOutput?.additionalContext).toMatch(
        /did not start|End your turn|Do only this step/,
      )
      await untilApproval(session)
      expect(verified(session)).toBe(1)
    }
  })

  it('after any record of its journal loses no step and repeats none', async () => {
    for (let record = 1; record <= kills; record++) {
      const session = makeRelease('true')
      const fault = { NODE_OPTIONS: `--import=${preload}`, FAULT: `kill:${record}` }
      Object.assign(session.env, fault)
      await session.prompt('/release')
      session.write('done.txt', 'x')
      await session.stop()
      Object.assign(session.env, { NODE_OPTIONS: '', FAULT: '' })
      await untilApproval(session)
      expect(verified(session)).toBe(1)
    }
  })

  it('counts no step as done and does not keep the agent going when the disk is full at any record', async () => {
    for (let record = 1; record <= kills; record++) {
      const session = makeRelease('true')
      const fault = { NODE_OPTIONS: `--import=${preload}`, FAULT: `full:${record}` }
      Object.assign(session.env, fault)
      await session.prompt('/release')
      session.write('done.txt', 'x')
      let blocks = 0
      while ((await session.stop())?.decision === 'block') blocks++
      expect(blocks).toBeLessThan(5)
      Object.assign(session.env, { NODE_OPTIONS: '', FAULT: '' })
      if (hasStarted(session)) await session.prompt('rail retry')
      await untilApproval(session)
      expect(verified(session)).toBeGreaterThan(0)
    }
  })
})

describe('processes that change the state of a rail at once', () => {
  it('lose no change', async () => {
    const home = temporaryHome()
    addRail(runtimeIn(home), makeRail())
    const log = join(home, 'log')
    await Promise.all(writers(home, log, 6, 10).map(({ ended }) => ended))
    expect(readFileSync(log, 'utf8')).toHaveLength(6 * 10)
    expect(readRail(runtimeIn(home), 's1')).toMatchObject({ rail: { sequence: 6 * 10 } })
  })

  it('lose no change and leave the state complete when some of them are killed', async () => {
    for (let round = 0; round < kills; round++) {
      const home = temporaryHome()
      addRail(runtimeIn(home), makeRail())
      const log = join(home, 'log')
      const all = writers(home, log, 6, 50)
      for (const { child } of all.slice(0, 3)) {
        await sleep(100 + round * 20)
        child.kill('SIGKILL')
      }
      await Promise.all(all.map(({ ended }) => ended))
      const reading = readRail(runtimeIn(home), 's1')
      const logged = readFileSync(log, 'utf8').length
      expect(logged).toBeGreaterThanOrEqual(150)
      // A process may be killed between a change and its log line.
      const changes = reading.kind === 'rail' ? reading.rail.sequence : -1
      expect(changes).toBeGreaterThanOrEqual(logged)
      expect(changes).toBeLessThanOrEqual(logged + 3)
    }
  })
})
