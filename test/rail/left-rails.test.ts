import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { readRails } from '../../src/rail/session.ts'
import { firstProcess, makeSession } from './_session.ts'

const skills = {
  ship: {
    metadata: ['chain: |', '  work check="test -f done.txt"', '  publish guard="Bash(git push:*)"'],
  },
  other: { metadata: ['chain: |', '  work'] },
  work: { body: 'WORK ON IT.' },
  publish: { body: 'PUBLISH IT.' },
}
const next = { pid: 2000, startedAt: 'noon' }

/** A chain whose client was closed, and a new session of the project in another process. */
async function afterClosing(client: Platform = 'claude') {
  const session = makeSession(skills, client)
  await session.prompt('/ship')
  session.end(firstProcess.pid)
  session.sendAs({ kind: 'client', process: next })
  session.use('s2')
  return session
}

const shell: Partial<Record<Platform, string>> = { opencode: 'bash', copilot: 'bash' }

describe.each(['claude', 'codex', 'gemini', 'qwen', 'copilot', 'opencode', 'pi'] as const)(
  'a new session of %s after the client of an open chain was closed',
  (client) => {
    it('says with its first prompt that the chain is open, and denies its guarded calls', async () => {
      const session = makeSession(skills, client)
      session.as('claude')
      await session.prompt('/ship')
      session.end(firstProcess.pid)
      session.sendAs({ kind: 'client', process: next })
      session.use('s2')
      session.as(client)
      const [prompt, before, tool] = eventsOf(client)
      const first = JSON.stringify(await session.send({ ...prompt, prompt: 'go on' }))
      expect(first).toContain('The chain ship is open at work, and its client was closed.')
      const push = { ...before, ...tool('git push') }
      expect(JSON.stringify(await session.send(push))).toContain('no session continues it')
      expect(
        JSON.stringify((await session.send({ ...before, ...tool('ls') })) ?? ''),
      ).not.toContain('deny')
    })
  },
)

/** The events of a client's hook, as its adapter registers them. */
function eventsOf(client: Platform) {
  const name =
    shell[client] ?? (client === 'gemini' || client === 'qwen' ? 'run_shell_command' : 'Bash')
  const tool = (command: string) => ({
    tool_name: name,
    toolName: name,
    tool_input: { command },
    toolArgs: JSON.stringify({ command }),
  })
  const [prompt, before] =
    client === 'gemini' ? ['BeforeAgent', 'BeforeTool'] : ['UserPromptSubmit', 'PreToolUse']
  return [{ hook_event_name: prompt }, { hook_event_name: before }, tool] as const
}

it('says it once in a session, and again for a word about a rail', async () => {
  const session = await afterClosing()
  expect((await session.prompt('please go on'))?.systemMessage).toContain('Type "rail resume"')
  expect(await session.prompt('and now?')).toBeUndefined()
  expect((await session.prompt('rail status'))?.systemMessage).toContain('is open at work')
})

it('denies the guarded calls until the user continues the chain or gives it up', async () => {
  const session = await afterClosing()
  expect(await session.bash('git push')).toContain('"rail resume"')
  expect(await session.bash('git status')).toBeUndefined()
  await session.prompt('rail stop')
  expect(await session.bash('git push')).toBeUndefined()
})

it('denies a call whose step was the current one: the new session does not have it', async () => {
  const session = makeSession(skills)
  session.write('done.txt', '')
  await session.prompt('/ship')
  await session.stop()
  expect(await session.bash('git push')).toBeUndefined()
  session.end(firstProcess.pid)
  session.sendAs({ kind: 'client', process: next })
  session.use('s2')
  expect(await session.bash('git push')).toContain('no session continues it')
})

it('lets no agent start another chain beside it', async () => {
  const session = await afterClosing()
  expect(await session.bash('skillrail chain start other')).toContain(
    'Only the user starts a chain',
  )
  const started = await session.prompt('/other')
  expect(started?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
})

it('leaves a chain alone whose client still runs, or has continued its session', async () => {
  const session = makeSession(skills)
  await session.prompt('/ship')
  session.sendAs({ kind: 'client', process: next })
  session.use('s2')
  expect(await session.prompt('hello')).toBeUndefined()
  expect(await session.bash('git push')).toBeUndefined()
  // The user closes the first client, and continues its session in a third one.
  session.end(firstProcess.pid)
  session.sendAs({ kind: 'client', process: { pid: 3000, startedAt: 'one' } })
  session.use('s1')
  await session.prompt('go on')
  session.sendAs({ kind: 'client', process: next })
  session.use('s2')
  expect(await session.bash('git push')).toBeUndefined()
})

it.each(['claude', 'gemini', 'pi', 'qwen'] as const)(
  'says in a session that %s began in the same process, as with `/clear`, that the chain is open',
  async (client) => {
    const session = makeSession(skills, client)
    await session.prompt(client === 'pi' ? '/skill:ship' : '/ship', {
      more: { source: 'interactive', has_typed_text: true },
    })
    expect(session.standing()).toBe('working')
    session.use('s2')
    const said = JSON.stringify(await session.prompt('hello'))
    expect(said).toContain('The chain ship is open at work, and its session has ended.')
    const [, before, tool] = eventsOf(client)
    const push = async () =>
      JSON.stringify((await session.send({ ...before, ...tool('git push') })) ?? '')
    expect(await push()).toContain('no session continues it')
    // Another window of the client is another process.
    session.sendAs({ kind: 'client', process: next })
    session.use('s3')
    expect(await session.prompt('hello')).toBeUndefined()
    expect(await push()).toBe('""')
  },
)

it('says nothing of a chain whose session has ended in Codex, where all windows share a process', async () => {
  const session = makeSession(skills, 'codex')
  await session.prompt('$ship')
  session.use('s2')
  expect(await session.prompt('hello')).toBeUndefined()
  expect(await session.bash('git push')).toBeUndefined()
})

it('denies guarded calls also after the run was deleted', async () => {
  const session = await afterClosing()
  const runtime = systemRuntime({ cwd: session.directory, home: session.home, env: session.env })
  const [gone] = readRails(runtime)
  rmSync(gone?.kind === 'rail' ? (gone.rail.journal ?? '') : '')
  expect(await session.bash('git push')).toContain('Its run was deleted: type "rail stop"')
})
