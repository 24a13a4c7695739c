import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { canStartFakeClients, installFakeClient, startFakeClient } from './_client-process.ts'
import { makeSession } from './_session.ts'

const chain = {
  ship: { metadata: ['chain: |', '  publish gate guard="Bash(git push:*)"'] },
  publish: { body: 'PUBLISH IT.' },
}

/** A chain that waits at its gate in a client, which is a separate process. */
async function atGate() {
  const session = makeSession(chain)
  const files = installFakeClient(session)
  const client = await startFakeClient(session, files)
  const transcript_path = join(session.home, 'transcript.jsonl')
  const about = { session_id: 's1', cwd: session.directory, transcript_path }
  const prompt = { hook_event_name: 'UserPromptSubmit', ...about }
  const stop = { hook_event_name: 'Stop', ...about, prompt_id: 'p2' }
  await client.hook({ ...prompt, prompt: '/ship', prompt_id: 'p1' })
  function noteOrigin(promptId: string): void {
    const row = { type: 'user', promptId, turnOrigin: 'human' }
    appendFileSync(transcript_path, `${JSON.stringify(row)}\n`)
  }
  noteOrigin('p2')
  const approve = { ...prompt, prompt: 'rail approve', prompt_id: 'p2' }
  function strengths(): string[] {
    const state = join(session.home, '.local/state/skillrail')
    if (!existsSync(state)) return []
    const entries = readdirSync(state, { recursive: true, encoding: 'utf8' })
    const journals = entries.filter((file) => /runs\/[^/]+\.jsonl$/.test(file))
    const text = journals.map((file) => readFileSync(join(state, file), 'utf8')).join('')
    return Array.from(text.matchAll(/"strength":"(\w+)"/g), ([, strength = '']) => strength)
  }
  return { ...session, ...files, noteOrigin, client, approve, stop, strengths }
}

describe.skipIf(!canStartFakeClients)('a client that is visible among the processes', () => {
  it('approves by its own prompt', async () => {
    const { client, approve, stop, strengths } = await atGate()
    await client.hook(approve)
    const answer = await client.hook(stop)
    expect(answer?.reason).toContain('PUBLISH IT.')
    expect(strengths()).toEqual(['prompted'])
  })

  it('does not approve when the shell of its agent calls the hook', async () => {
    const { client, approve, stop, strengths, launcher, command, noteOrigin } = await atGate()
    const lines = [`${launcher} claude`, `sh -c '${launcher} claude'`, `cat | { ${command}; }`]
    for (const [index, line] of lines.entries()) {
      const prompt_id = `p${index + 3}`
      noteOrigin(prompt_id)
      const output = await client.shell(line, { ...approve, prompt_id })
      expect({ line, output }).toMatchObject({ output: expect.stringContaining('does not count') })
      await client.shell(line, { ...stop, prompt_id })
    }
    expect(strengths()).toEqual([])
  })

  it('does not approve when another process of the client calls the hook', async () => {
    const session = await atGate()
    const { client, approve, stop, strengths } = session
    const other = await startFakeClient(session, session)
    const answer = await other.hook(approve)
    await other.hook(stop)
    expect(answer?.systemMessage).toContain(`it comes from the process ${other.pid}`)
    expect(answer?.systemMessage).toContain(`in the process ${client.pid}`)
    expect(strengths()).toEqual([])
  })

  it('does not approve when a client that its agent starts calls the hook', async () => {
    const { client, approve, strengths, program, file, command } = await atGate()
    const nested = `'${program}' '${file}'`
    const request = { id: 0, command, input: JSON.stringify(approve), marks: {} }
    const output = await client.shell(nested, request)
    expect(JSON.parse(output).output).toContain('an agent has started this Claude Code')
    expect(strengths()).toEqual([])
  })
})
