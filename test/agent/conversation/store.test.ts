import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AgentOptions } from '../../../src/agent/agent-options.ts'
import { Agent } from '../../../src/agent/agent.ts'
import { conversationFiles, type ConversationStore } from '../../../src/agent/conversation/store.ts'
import type { AgentEvent, Approval } from '../../../src/agent/types.ts'
import { StateFileError } from '../../../src/core/errors.ts'
import { fixture } from '../../library/_fixture.ts'
import { call, calls, echoTool, says, scripted } from '../mock-replies.ts'

interface Kept {
  store: ConversationStore
  directory: string
  agent: (options: Omit<AgentOptions, 'store'>) => Agent
}

function kept(): Kept {
  const { runtime, root } = fixture()
  const directory = join(root, 'conversations')
  const store = conversationFiles({ directory, runtime })
  const agent = (options: Omit<AgentOptions, 'store'>): Agent =>
    new Agent({ runtime, store, ...options })
  return { store, directory, agent }
}

const later = async (): Promise<Approval> => ({ approved: 'later' })

function writer() {
  return echoTool('write', { readOnly: false, needsApproval: true })
}

describe('a conversation that is stored', () => {
  it('is continued by another agent, with all messages and tokens', async () => {
    const { store, directory, agent } = kept()
    const first = agent({ model: scripted([says('Hello Ada.')]) })
    await first.generate('My name is Ada.')
    const id = first.conversation ?? ''
    expect(await store.list()).toMatchObject([{ id, title: 'My name is Ada.', model: 'mock' }])
    expect(statSync(join(directory, `${id}.json`)).mode & 0o777).toBe(0o600)
    const model = scripted([says('Ada.')])
    const second = agent({ model, conversation: id.slice(0, 9) })
    await second.generate('Who am I?')
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('My name is Ada.')
    expect(await store.load('latest')).toMatchObject({ id, usage: { requests: 2 } })
    await first.generate('And?').catch(() => undefined)
    expect(first.messages.length).toBeGreaterThan(4)
  })

  it.each([
    ['unknown', 'zz', 'conversation-unknown'],
    ['latest', 'latest', 'conversation-unknown'],
    ['a path', '../../x', 'conversation-unknown'],
  ])('is not found: %s', async (_case, reference, code) => {
    await expect(kept().store.load(reference)).rejects.toMatchObject({ code, exitCode: 3 })
  })

  it('is refused if the beginning of an ID is ambiguous, or if the file is newer or damaged', async () => {
    const { store, directory, agent } = kept()
    for (const text of ['One.', 'Two.']) {
      await agent({ model: scripted([says(text)]) }).generate(text)
    }
    const [newest, oldest] = await store.list()
    const ambiguous = { code: 'conversation-ambiguous' }
    await expect(store.load(newest?.id.slice(0, 3) ?? '')).rejects.toMatchObject(ambiguous)
    const path = join(directory, `${oldest?.id}.json`)
    writeFileSync(path, '{"version":2}')
    await expect(store.load(oldest?.id ?? '')).rejects.toMatchObject({ code: 'conversation-newer' })
    writeFileSync(path, '{"version":1,"id"')
    const damaged = { code: 'conversation-damaged' }
    await expect(store.load(oldest?.id ?? '')).rejects.toMatchObject(damaged)
    expect(await store.list()).toMatchObject([{ id: newest?.id }, { status: 'unreadable' }])
    expect((await store.load('latest')).id).toBe(newest?.id)
  })

  it('never follows a link', async () => {
    const { store, directory, agent } = kept()
    await agent({ model: scripted([says('One.')]) }).generate('One.')
    const { id } = await store.load('latest')
    const [path, target] = [join(directory, `${id}.json`), join(directory, 'target')]
    writeFileSync(target, readFileSync(path))
    unlinkSync(path)
    symlinkSync(target, path)
    await expect(store.load(id)).rejects.toThrow(StateFileError)
    const conversation = { ...JSON.parse(readFileSync(target, 'utf8')), title: 'changed' }
    await expect(store.save(conversation)).rejects.toThrow(/symbolic link/)
    expect(readFileSync(target, 'utf8')).not.toContain('changed')
  })

  it('is used by one process at a time, and contains the changes of another one', async () => {
    const { store, agent } = kept()
    const first = agent({ model: scripted([says('One.'), says('Three.')]) })
    await first.generate('First.')
    const release = await store.lock(first.conversation ?? '')
    await expect(first.generate('Busy?')).rejects.toMatchObject({ code: 'conversation-busy' })
    release()
    await agent({ model: scripted([says('Two.')]), conversation: 'latest' }).generate('Second.')
    await first.generate('Third.')
    const texts = JSON.stringify((await store.load('latest')).messages)
    for (const text of ['First.', 'Second.', 'Third.', 'One.', 'Two.', 'Three.']) {
      expect(texts).toContain(text)
    }
  })

  it('contains the changes of another process even after a failure to store', async () => {
    const { store, agent } = kept()
    let isFull = false
    const save: typeof store.save = async (conversation) => {
      if (isFull) throw new Error('full')
      await store.save(conversation)
    }
    const runtime = { ...fixture().runtime, now: () => 1 }
    const given = { runtime, store: { ...store, save } }
    const model = scripted([says('One.'), says('Lost.'), says('Three.')])
    const first = new Agent({ ...given, model })
    await first.generate('First.')
    isFull = true
    await first.generate('Kept by nobody.')
    isFull = false
    const second = agent({ runtime, model: scripted([says('Two.')]), conversation: 'latest' })
    await second.generate('Second.')
    await first.generate('Third.')
    expect(JSON.stringify((await store.load('latest')).messages)).toContain('Second.')
  })

  it('has masked secrets in the file, and whole ones for the user who continues it', async () => {
    const { runtime, root } = fixture({ env: { DEPLOY_TOKEN: 'correct horse' } })
    const directory = join(root, 'conversations')
    const store = conversationFiles({ directory, runtime })
    const secrets = [['gh', 'p_', 'q7R8'.repeat(9)].join(''), 'correct horse']
    const texts = secrets.join(' and ')
    const write = writer()
    const options = { tools: [write], approver: later, runtime, store }
    const first = new Agent({
      ...options,
      model: scripted([call('write', { text: texts })]),
    })
    expect(await first.generate(`Write ${texts}`)).toMatchObject({ status: 'waiting' })
    const path = join(directory, `${first.conversation}.json`)
    const file = readFileSync(path, 'utf8')
    for (const secret of secrets) expect(file).not.toContain(secret)
    const title = 'Write [redacted] and [redacted]'
    expect(JSON.parse(file)).toMatchObject({ title, messages: [{ content: title }, {}] })
    const model = scripted([says('Done.')])
    const approver = async (): Promise<Approval> => ({ approved: true })
    const second = new Agent({ ...options, model, approver, conversation: 'latest' })
    expect(await second.resume()).toMatchObject({ status: 'completed' })
    expect(write.seen).toEqual([{ text: texts }])
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain(`Write ${texts}`)
    const other = { ...runtime, env: { ...runtime.env, SKILLRAIL_STATE_KEY: 'another' } }
    const unreadable = conversationFiles({ directory, runtime: other }).load('latest')
    await expect(unreadable).rejects.toMatchObject({ code: 'conversation-damaged' })
  })

  it('keeps the newest hundred', async () => {
    const { store, directory, agent } = kept()
    await agent({ model: scripted([says('One.')]) }).generate('One.')
    const one = await store.load('latest')
    for (let index = 0; index < 105; index++) {
      await store.save({ ...one, id: `1${String(index).padStart(13, '0')}` })
    }
    expect(readdirSync(directory).filter((name) => name.endsWith('.json'))).toHaveLength(100)
  })

  it('is reported in a clear sentence if it cannot be stored, and the run continues', async () => {
    const { runtime } = fixture()
    const events: AgentEvent[] = []
    const store = conversationFiles({ directory: '/dev/full/conversations', runtime })
    const agent = new Agent({
      model: scripted([call('echo'), says('Done.')]),
      tools: [echoTool()],
      runtime,
      store: { ...store, lock: async () => () => undefined },
      onEvent: (event) => events.push(event),
    })
    expect(await agent.generate('Go.')).toMatchObject({ status: 'completed', text: 'Done.' })
    const notices = events.flatMap((event) => (event.type === 'notice' ? event.message : []))
    expect(notices).toEqual([expect.stringMatching(/^The conversation \w+ could not be stored: /)])
  })
})

describe('an approval that waits', () => {
  it('survives the process: other calls are made, this one later', async () => {
    const { store, agent } = kept()
    const [write, echo] = [writer(), echoTool()]
    const events: AgentEvent[] = []
    const first = agent({
      model: scripted([calls([{ name: 'write' }, { name: 'echo' }])]),
      tools: [write, echo],
      approver: later,
      onEvent: (event) => events.push(event),
    })
    const result = await first.generate('Go.')
    const waiting = [{ id: 'call-0-write', tool: 'write', reason: 'it needs an approval' }]
    expect(result).toMatchObject({ status: 'waiting', waiting })
    expect(events).toContainEqual(expect.objectContaining({ type: 'waiting', tool: 'write' }))
    expect([write.seen.length, echo.seen.length]).toEqual([0, 1])
    expect(await store.load('latest')).toMatchObject({
      status: 'waiting',
      waiting: ['call-0-write'],
    })

    const model = scripted([says('Done.')])
    const approver = async (): Promise<Approval> => ({ approved: true })
    const second = agent({ model, tools: [write, echo], approver, conversation: 'latest' })
    expect(await second.resume()).toMatchObject({ status: 'completed', text: 'Done.' })
    expect([write.seen.length, echo.seen.length]).toEqual([1, 1])
    const prompt = JSON.stringify(model.doGenerateCalls[0]?.prompt)
    expect(prompt).toContain('write said')
    await expect(second.resume()).rejects.toMatchObject({ code: 'turn-complete' })
  })

  it('ends unapproved if the user continues with another prompt', async () => {
    const { agent } = kept()
    const write = writer()
    const model = scripted([call('write'), says('Fine.')])
    const one = agent({ model, tools: [write], approver: later })
    await one.generate('Go.')
    expect(await one.generate('Stop that.')).toMatchObject({ text: 'Fine.' })
    expect(write.seen).toEqual([])
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain('this was not approved')
  })

  it('is a refusal for a subagent, which cannot wait', async () => {
    const { agent } = kept()
    const model = scripted([call('write'), says('I could not.')])
    const subagents = [{ name: 'worker', description: 'Works.', tools: ['*'] }]
    const one = agent({ model, tools: [writer()], approver: later, subagents })
    expect(await one.delegate('worker', 'Go.')).toMatchObject({ output: 'I could not.' })
  })
})

it('resumes a finished delegation of another process in its conversation', async () => {
  const { agent } = kept()
  const subagents = [{ name: 'worker', description: 'Works.' }]
  const delegate = { agent: 'worker', task: 'Count the files.' }
  const first = agent({
    model: scripted([call('delegate', delegate), says('There are 7.'), says('Seven.')]),
    subagents,
    discover: false,
  })
  await first.generate('How many files?')
  const [, , results] = first.messages
  const id = /delegation (\w+) of worker/.exec(JSON.stringify(results))?.[1] ?? ''
  const model = scripted([
    call('delegate', { ...delegate, task: 'And folders?', resume: id }),
    says('2 folders.'),
    says('Two.'),
  ])
  const second = agent({ model, subagents, discover: false, conversation: 'latest' })
  expect((await second.generate('And folders?')).text).toBe('Two.')
  const child = JSON.stringify(model.doGenerateCalls[1]?.prompt)
  expect(child).toContain('Count the files.')
  expect(child).toContain('There are 7.')
  expect(child).toContain('And folders?')
})

it('loses nothing when the process is killed in the middle of a turn', async () => {
  const { store, directory, agent } = kept()
  const source = `
    import { Agent } from '${new URL('../../../src/agent/agent.ts', import.meta.url).href}'
    import { conversationFiles } from '${new URL('../../../src/agent/conversation/store.ts', import.meta.url).href}'
    import { call, echoTool, scripted } from '${new URL('../mock-replies.ts', import.meta.url).href}'
    const stuck = echoTool('stuck', { execute: () => { console.log('stuck'); return new Promise(() => setInterval(() => {}, 1000)) } })
    const store = conversationFiles({ directory: ${JSON.stringify(directory)} })
    const model = scripted([call('echo'), call('stuck', {}, 'call-stuck')])
    await new Agent({ model, store, tools: [echoTool(), stuck] }).generate('Begin.')
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const found = await store.load('latest')
  expect(found.status).toBe('running')
  expect(found.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  const model = scripted([says('Back.')])
  const next = agent({ model, tools: [echoTool()], conversation: 'latest' })
  expect(await next.resume()).toMatchObject({ status: 'completed', text: 'Back.' })
  const prompt = JSON.stringify(model.doGenerateCalls[0]?.prompt)
  expect(prompt).toContain('the process ended before this was done')
})
