import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type HookJson, makeSession } from './_session.ts'

const preload = fileURLToPath(new URL('_hook-fault.mjs', import.meta.url))
const hookMain = fileURLToPath(new URL('../../src/rail/hook-main.ts', import.meta.url))

const release = {
  release: {
    metadata: [
      'chain: |',
      '  implement check="test -f done.txt" max-blocks=2',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

type Session = ReturnType<typeof makeSession>

const faults = ['before', 'after', 'throw'] as const
type Fault = (typeof faults)[number]

const command = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c0' }
const events = {
  prompt: { hook_event_name: 'UserPromptSubmit', prompt: 'Go on.', prompt_id: 'faulty' },
  before: { hook_event_name: 'PreToolUse', ...command },
  after: { hook_event_name: 'PostToolUse', ...command },
  stop: { hook_event_name: 'Stop', last_assistant_message: 'Done.', prompt_id: 'faulty' },
} as const

/** Sends an event to a hook of its own process, in which a fault occurs. */
function sendFaulty(session: Session, payload: object, fault: Fault) {
  const input = JSON.stringify({ session_id: 's1', cwd: session.directory, ...payload })
  const args = ['--no-warnings', `--import=${preload}`, hookMain, 'claude']
  const env = { ...session.env, HOOK_FAULT: fault }
  const { status, signal, stdout } = spawnSync(process.execPath, args, {
    cwd: session.directory,
    env,
    input,
    encoding: 'utf8',
  })
  // A killed hook has printed nothing, and every other one ends well.
  expect(signal === 'SIGKILL' ? stdout : status).toBe(signal === 'SIGKILL' ? '' : 0)
  const answer: HookJson | undefined = stdout === '' ? undefined : JSON.parse(stdout)
  return answer
}

const stateOf = ({ home }: Session): string => join(home, '.local/state/skillrail')

function hasRail(session: Session): boolean {
  const directory = join(stateOf(session), 'rails')
  return existsSync(directory) && readdirSync(directory).some((name) => name.endsWith('.json'))
}

/** How often the journals say that a step is done and verified. */
function verified(session: Session): number {
  const names = readdirSync(stateOf(session), { recursive: true, encoding: 'utf8' })
  const journals = names.filter((name) => /runs\/[^/]+\.jsonl$/.test(name))
  const texts = journals.map((name) => readFileSync(join(stateOf(session), name), 'utf8'))
  return (texts.join('').match(/"type":"done".*"evidence":"verified"/g) ?? []).length
}

/** As a user does: prompts and ends of turns until the chain waits for an approval. */
async function untilApproval(session: Session): Promise<void> {
  session.write('done.txt', 'x')
  for (let turn = 0; turn < 4 && session.standing() !== 'approval'; turn++) {
    await session.prompt(hasRail(session) ? 'Go on.' : '/release')
    await session.call('Write', { file_path: 'a.txt', content: 'x' })
    const isPushed = hasRail(session) && (await session.bash('git push')) === undefined
    expect(isPushed).toBe(false)
    await session.stop()
  }
  expect(session.standing()).toBe('approval')
}

const cases = Object.keys(events).flatMap((event) => faults.map((fault) => ({ event, fault })))

describe('a hook that a fault ends', () => {
  it.each(cases)(
    'at $event, $fault the write of its state, counts nothing as done and continues',
    async ({ event, fault }) => {
      const session = makeSession(release)
      await session.prompt('/release')
      const payload = Object.entries(events).find(([name]) => name === event)?.[1] ?? {}
      sendFaulty(session, payload, fault)
      expect(verified(session)).toBe(0)
      expect(await session.bash('git push')).toContain('belongs to the step')
      await untilApproval(session)
      expect(verified(session)).toBe(1)
    },
  )

  it.each(faults)('at the start of a chain (%s) starts it at once or later', async (fault) => {
    const session = makeSession(release)
    const start = { ...events.prompt, prompt: '/release' }
    sendFaulty(session, start, fault)
    await expect.poll(() => existsSync(stateOf(session)), { timeout: 30_000 }).toBe(true)
    await untilApproval(session)
    expect(verified(session)).toBeGreaterThan(0)
  })

  it.each(faults)('at every end of a turn (%s) does not keep the agent going', async (fault) => {
    const session = makeSession(release)
    await session.prompt('/release')
    let blocks = 0
    for (let turn = 0; turn < 6; turn++) {
      const answer = sendFaulty(session, events.stop, fault)
      if (answer?.decision !== 'block') break
      blocks++
    }
    expect(blocks).toBeLessThan(3)
    expect(verified(session)).toBe(0)
    expect(await session.bash('git push')).toContain('belongs to the step')
  })
})
