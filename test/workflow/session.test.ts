import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StateFileError, UsageError } from '../../src/core/errors.ts'
import { projectStateDirectory } from '../../src/core/runtime.ts'
import { listSessions, openSession, type SessionStore } from '../../src/tools/workflow/session.ts'
import {
  parseSession,
  serializeSession,
  type SessionState,
  shorten,
  withCompletion,
} from '../../src/tools/workflow/session-file.ts'
import { settings, temporaryProject, testRuntime, isValid, record } from './helpers.ts'

const hour = 3_600_000

function open(
  options: Partial<Parameters<typeof openSession>[0]> = {},
): SessionStore & { project: string; clock: { now: number }; notes: string[] } {
  const runtime = testRuntime()
  const project = temporaryProject()
  const notes: string[] = []
  const note = (line: string): void => void notes.push(line)
  const store = openSession({ project, runtime, settings, note, ...options })
  return Object.assign(store, { project, clock: runtime.clock, notes })
}

describe('the place of a session', () => {
  it.each([
    ['the default', {}, undefined, 'default.json'],
    ['the one that is named', { SKILLRAIL_SESSION: 'b' }, 'a', 'a.json'],
    ['that of the variable', { SKILLRAIL_SESSION: 'b', CODEX_THREAD_ID: 'c' }, undefined, 'b.json'],
    ['that of the client', { CODEX_THREAD_ID: 'c' }, undefined, 'c.json'],
    ['the default for an empty variable', { SKILLRAIL_SESSION: '' }, undefined, 'default.json'],
    ['the default by its name', {}, 'default', 'default.json'],
  ])('in the state of the user is %s', (_, env, id, expected) => {
    const project = temporaryProject()
    const runtime = testRuntime({ env })
    const { path } = openSession({ project, runtime, settings, id })
    expect(path).toBe(
      join(projectStateDirectory(project, { runtime, settings }), 'sessions', expected),
    )
    expect(path.startsWith(join(runtime.home, '.local', 'state', 'skillrail'))).toBe(true)
  })

  it('is the path in the setting', () => {
    const directory = temporaryProject()
    const elsewhere = { ...settings, state: { directory } }
    expect(open({ settings: elsewhere }).path.startsWith(directory)).toBe(true)
    const inProject = { ...settings, state: { directory: '.skillrail' } }
    expect(() => open({ settings: inProject })).toThrow(UsageError)
  })

  it.each(['', '.', '../x', 'a/b', 'a\\b', 'a b', '.hidden', 'x'.repeat(101), 'a\0', 'é'])(
    'is refused for the ID %j',
    (id) => {
      expect(() => open({ id })).toThrow(UsageError)
      if (id === '') return
      const runtime = testRuntime({ env: { SKILLRAIL_SESSION: id } })
      expect(() => open({ runtime })).toThrow('SKILLRAIL_SESSION')
    },
  )

  it('is a digest for an ID of a client that cannot be a file name', () => {
    const runtime = testRuntime({ env: { GEMINI_SESSION_ID: '../../etc/passwd' } })
    expect(open({ runtime }).id).toMatch(/^[0-9a-f]{32}$/)
  })
})

it('writes the shape of the format, with results of at most 200 characters', async () => {
  const session = open({ id: 'abc123' })
  await record(session, 'database-safe-query', 'list_databases', {}, 'Found 3 databases')
  await record(
    session,
    'database-safe-query',
    'list_tables',
    { database: 'main' },
    'x'.repeat(5000),
  )
  const file: unknown = JSON.parse(readFileSync(session.path, 'utf8'))
  const at = '2026-02-04T10:00:00.000Z'
  expect(file).toMatchObject({
    session_id: 'abc123',
    started_at: at,
    completed: {
      'database-safe-query': {
        list_databases: { at, result: 'Found 3 databases' },
        list_tables: {
          at,
          result: `${'x'.repeat(199)}…`,
          scopes: [{ scope: { database: 'main' } }],
        },
      },
    },
  })
  expect(statSync(session.path).mode & 0o777).toBe(0o600)
})

it('reads a file of other programs, for steps without a scope of their own', async () => {
  const session = open()
  mkdirSync(dirname(session.path), { recursive: true })
  writeFileSync(
    session.path,
    JSON.stringify({
      session_id: 'abc123',
      started_at: '2026-02-04T09:00:00Z',
      completed: { w: { list_databases: { at: '2026-02-04T09:05:00Z', result: 'Found 3' } } },
    }),
  )
  expect(await isValid(session, 'w', 'list_databases', { server: 'db' })).toBe(true)
  expect(await isValid(session, 'w', 'list_databases', { server: 'db', database: 'x' })).toBe(false)
})

it('distinguishes scopes, whatever the order of their keys', async () => {
  const session = open()
  await record(session, 'w', 't', { a: 1, b: '2' }, 'x')
  expect(await isValid(session, 'w', 't', { b: '2', a: 1 })).toBe(true)
  expect(await isValid(session, 'w', 't', { a: 1, b: 2 })).toBe(false)
  expect(await isValid(session, 'w', 't', { a: 1 })).toBe(false)
  await session.change([
    { kind: 'invalidate', workflow: 'w', tool: 't', holds: (scope) => scope['a'] !== 1 },
  ])
  expect(await isValid(session, 'w', 't', { a: 1, b: '2' })).toBe(false)
})

describe('the end of a session', () => {
  it.each([
    ['a moment before 24 hours', 24 * hour - 1, true],
    ['after 24 hours', 24 * hour + 1, false],
    ['a clock that is put back an hour', -hour, true],
    ['a clock that is put back a year', -8760 * hour, false],
    ['a clock that jumps ahead a year', 8760 * hour, false],
  ])('%s', async (_, later, holds) => {
    const session = open()
    await record(session, 'w', 't', {}, 'x')
    session.clock.now += later
    expect(await isValid(session, 'w', 't', {})).toBe(holds)
  })

  it('can be set', async () => {
    const runtime = testRuntime()
    const session = open({ runtime, settings: { ...settings, tools: { sessionHours: 1 } } })
    await record(session, 'w', 't', {}, 'x')
    runtime.clock.now += hour + 1
    expect(await isValid(session, 'w', 't', {})).toBe(false)
  })

  it('begins a new one at the next write', async () => {
    const session = open()
    await record(session, 'w', 'old', {}, 'x')
    const { sessionId } = (await session.read()).state
    session.clock.now += 25 * hour
    await record(session, 'w', 'new', {}, 'x')
    const { state } = await session.read()
    expect(state.sessionId).not.toBe(sessionId)
    expect(state.completed.map(({ tool }) => tool)).toEqual(['new'])
  })

  it('comes if the file is of another session', async () => {
    const session = open({ id: 'mine' })
    await record(session, 'w', 't', {}, 'x')
    const text = readFileSync(session.path, 'utf8')
    writeFileSync(session.path, text.replace('"mine"', '"other"'))
    expect(await isValid(session, 'w', 't', {})).toBe(false)
  })
})

describe('a session file that is not valid', () => {
  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['no start', '{"session_id": "a"}'],
    ['a start that is not a time', '{"session_id": "a", "started_at": "soon"}'],
    [
      'a tool that is not an object',
      '{"session_id":"a","started_at":"2026-02-04","completed":{"w":{"t":1}}}',
    ],
    [
      'a scope that is none',
      '{"session_id":"a","started_at":"2026-02-04","completed":{"w":{"t":{"at":"","result":"","scopes":[1]}}}}',
    ],
  ])('%s: is moved aside and never deleted', async (_, text) => {
    const session = open()
    mkdirSync(dirname(session.path), { recursive: true })
    writeFileSync(session.path, text)
    expect((await session.read()).diagnostics).toMatchObject([{ code: 'session-corrupt' }])
    expect(readFileSync(session.path, 'utf8')).toBe(text)
    await record(session, 'w', 't', {}, 'x')
    expect(await isValid(session, 'w', 't', {})).toBe(true)
    const [aside = ''] = readdirSync(dirname(session.path)).filter((name) =>
      name.includes('damaged'),
    )
    expect(readFileSync(join(dirname(session.path), aside), 'utf8')).toBe(text)
    expect(session.notes).toEqual([expect.stringContaining(aside)])
  })

  it('of a newer version is refused and not touched', async () => {
    const session = open()
    const text = '{"version": 2, "session_id": "a", "started_at": "2026-02-04"}'
    mkdirSync(dirname(session.path), { recursive: true })
    writeFileSync(session.path, text)
    await expect(record(session, 'w', 't', {}, 'x')).rejects.toThrow(StateFileError)
    await expect(session.clear()).rejects.toThrow('newer')
    expect(readFileSync(session.path, 'utf8')).toBe(text)
  })

  it('that is a link is replaced, and its target does not change', async () => {
    const session = open()
    mkdirSync(dirname(session.path), { recursive: true })
    const target = join(session.project, 'target')
    writeFileSync(target, 'precious')
    symlinkSync(target, session.path)
    await record(session, 'w', 't', {}, 'x')
    expect(readFileSync(target, 'utf8')).toBe('precious')
    expect(await isValid(session, 'w', 't', {})).toBe(true)
  })
})

it('reports whether it removed anything, and keeps the log by default', async () => {
  const session = open()
  expect(await session.clear()).toBe(false)
  await record(session, 'w', 't', {}, 'x')
  await session.log({ tool: 's__t', durationMs: 1, outcome: 'success', size: 1 })
  expect(await session.clear()).toBe(true)
  expect(await isValid(session, 'w', 't', {})).toBe(false)
  expect((await session.calls()).calls).toHaveLength(1)
  expect(await session.clear({ log: true })).toBe(true)
  expect((await session.calls()).calls).toEqual([])
})

it('drops the oldest of more than 200 scopes of a tool', () => {
  const start = { sessionId: 'a', startedAt: '2026-02-04T00:00:00Z', completed: [] }
  const state = Array.from({ length: 250 }, (_, index) => index).reduce<SessionState>(
    (before, index) =>
      withCompletion(before, { workflow: 'w', tool: 't', scope: { index }, result: '' }, ''),
    start,
  )
  const kept = state.completed
  expect(kept).toHaveLength(200)
  expect(kept[0]?.scope).toEqual({ index: 50 })
})

it('lists the sessions with files, the default one first', async () => {
  const project = temporaryProject()
  const runtime = testRuntime()
  for (const id of ['b', 'default', 'a']) {
    await record(openSession({ project, runtime, settings, id }), 'w', 't', {}, 'x')
  }
  await openSession({ project, runtime, settings, id: 'c' }).log({
    tool: 's__t',
    durationMs: 1,
    outcome: 'success',
    size: 1,
  })
  const sessions = await listSessions({ project, runtime, settings, id: 'a' })
  expect(
    sessions.map(({ id, current, completed, calls }) => [id, current, completed, calls]),
  ).toEqual([
    ['default', false, 1, 0],
    ['a', true, 1, 0],
    ['b', false, 1, 0],
    ['c', false, 0, 1],
  ])
})

describe('the log of calls', () => {
  const entry = { tool: 's__t', durationMs: 12, outcome: 'success', size: 300 }

  it('masks secrets and cuts long texts before they reach the disk', async () => {
    const session = open()
    const token = `ghp_${'a'.repeat(30)}`
    await session.log({
      ...entry,
      params: { api_key: 'hunter2', url: `https://u:secret@h/?t=${token}`, text: 'y'.repeat(9000) },
      error: `Authorization: Bearer ${'z'.repeat(40)}`,
    })
    const text = readFileSync(session.logPath, 'utf8')
    for (const secret of ['hunter2', token, 'u:secret', 'z'.repeat(40), 'y'.repeat(201)]) {
      expect(text).not.toContain(secret)
    }
    expect((await session.calls()).calls).toMatchObject([{ ...entry, session: 'default' }])
    expect(statSync(session.logPath).mode & 0o777).toBe(0o600)
  })

  it('skips an incomplete line', async () => {
    const session = open()
    await session.log(entry)
    appendFileSync(session.logPath, '{"tool": "s__')
    await session.log(entry)
    const { calls, diagnostics } = await session.calls()
    expect(calls).toHaveLength(2)
    expect(diagnostics).toMatchObject([{ code: 'call-log-line', line: 2 }])
  })

  it('starts a new file when it is large, and keeps the previous one', async () => {
    const session = open()
    await session.log(entry)
    appendFileSync(session.logPath, `${' '.repeat(4 * 1024 * 1024)}\n`)
    await session.log({ ...entry, tool: 's__last' })
    await session.log({ ...entry, tool: 's__first' })
    expect((await session.calls()).calls.map(({ tool }) => tool)).toEqual(['s__first'])
    expect(readFileSync(`${session.logPath}.old`, 'utf8')).toContain('s__last')
  })
})

it.each([
  ['3 databases found', '3 databases found'],
  ['two\n  lines', 'two lines'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['😀'.repeat(300), `${'😀'.repeat(199)}…`],
  ['', ''],
])('shortens a result to 200 characters (%#)', (text, expected) => {
  expect(shorten(text)).toBe(expected)
})

it('reads its own file, whatever the names and values are', () => {
  const text = fc.string()
  // No workflow and no tool has a name that JavaScript reserves.
  const name = text.filter((each) => each !== '__proto__')
  const record = fc.record({
    workflow: name,
    tool: name,
    scope: fc.dictionary(name, fc.oneof(text, fc.integer(), fc.boolean()), {
      noNullPrototype: true,
    }),
    result: text,
  })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 8 }), (records) => {
      const start = { sessionId: 'a', startedAt: '2026-02-04T00:00:00Z', completed: [] }
      const state = records.reduce<SessionState>(
        (before, item) => withCompletion(before, item, 'now'),
        start,
      )
      const again = parseSession(serializeSession(state))
      expect(again.kind).toBe('state')
      if (again.kind !== 'state') return
      expect(serializeSession(again.state)).toBe(serializeSession(state))
    }),
  )
})

it('never throws, whatever a file contains', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(['state', 'corrupt', 'newer']).toContain(parseSession(text).kind)
    }),
  )
})

describe('a session that others could have written', () => {
  const answer = { workflow: 'w', tool: 't', scope: {}, result: 'r', value: { id: 'chosen' } }

  it.skipIf(process.platform === 'win32')('is ignored', async () => {
    const store = open()
    await store.change([{ kind: 'record', ...answer }])
    chmodSync(store.path, 0o666)
    expect(await isValid(store, 'w', 't', {})).toBe(false)
    expect((await store.read()).diagnostics).toMatchObject([{ code: 'session-unreadable' }])
    await expect(store.change([{ kind: 'record', ...answer }])).rejects.toThrow(StateFileError)
  })

  it('is ignored in the project', async () => {
    const { project, ...store } = open()
    const at = '2026-02-04T09:05:00Z'
    const text = JSON.stringify({
      session_id: 'x',
      started_at: at,
      completed: { w: { t: { at, result: 'r' } } },
    })
    mkdirSync(join(project, '.skillrail', 'sessions'), { recursive: true })
    for (const name of ['session.json', 'sessions/default.json', 'sessions/a.json']) {
      writeFileSync(join(project, '.skillrail', name), text)
    }
    const options = { project, runtime: testRuntime(), settings }
    expect(store.id).toBe('default')
    expect(await isValid(openSession(options), 'w', 't', {})).toBe(false)
    expect(await isValid(openSession({ ...options, id: 'a' }), 'w', 't', {})).toBe(false)
    expect(await listSessions(options)).toEqual([])
  })
})

describe('the file in .opencode/', () => {
  const value = { id: 'chosen' }
  const completion = { kind: 'record', workflow: 'w', scope: {}, result: 'r', value } as const

  function openShared(): ReturnType<typeof open> & { shared: string } {
    const project = temporaryProject()
    mkdirSync(join(project, '.opencode'))
    const shared = join(project, '.opencode', '.agent-skill-session.json')
    return Object.assign(open({ project }), { shared, project })
  }

  async function counting(session: SessionStore): Promise<string[]> {
    return (await session.read()).state.completed.map(({ tool }) => tool)
  }

  function sharedTools(path: string): Record<string, object> {
    const { completed }: { completed: { w?: Record<string, object> } } = JSON.parse(
      readFileSync(path, 'utf8'),
    )
    return completed.w ?? {}
  }

  function write(path: string, tools: Record<string, object>): void {
    const text = { session_id: 'a', started_at: '2026-02-04T09:00:00Z', completed: { w: tools } }
    writeFileSync(path, JSON.stringify(text))
  }

  it('shows other tools the completed steps, without values', async () => {
    const session = openShared()
    expect(session.sharedPath).toBe(session.shared)
    await session.change([{ ...completion, tool: 'look' }])
    expect(sharedTools(session.shared)).toMatchObject({ look: { result: 'r' } })
    expect(readFileSync(session.shared, 'utf8')).not.toContain('chosen')
    const { state } = await session.read()
    expect(state.completed[0]?.value).toEqual(value)
  })

  it('accepts no completion that this user did not make, and keeps it for its authors', async () => {
    const session = openShared()
    const at = '2026-02-04T09:05:00Z'
    write(session.shared, { look: { at, result: 'Found 3' } })
    expect(await counting(session)).toEqual([])
    expect((await session.read()).diagnostics).toMatchObject([
      { code: 'session-foreign', severity: 'info', path: session.shared },
    ])
    await session.change([{ ...completion, tool: 'other' }])
    expect(await counting(session)).toEqual(['other'])
    expect(Object.keys(sharedTools(session.shared))).toEqual(['look', 'other'])
  })

  it('permanently removes a completion that is deleted there', async () => {
    const session = openShared()
    await session.change([
      { ...completion, tool: 'look' },
      { ...completion, tool: 'other' },
    ])
    const { look = {}, other = {} } = sharedTools(session.shared)
    write(session.shared, { other })
    expect(await counting(session)).toEqual(['other'])
    await session.change([{ ...completion, tool: 'third' }])
    write(session.shared, { look, other })
    expect(await counting(session)).toEqual(['other'])
  })

  it('removes all completions when it is deleted', async () => {
    const session = openShared()
    await session.change([{ ...completion, tool: 'look' }])
    rmSync(session.shared)
    expect(await counting(session)).toEqual([])
  })

  it.each([
    ['another time', { at: '2026-02-04T09:05:00Z', result: 'r' }],
    [
      'another scope',
      {
        at: '2026-02-04T10:00:00.000Z',
        result: 'r',
        scopes: [{ at: '2026-02-04T10:00:00.000Z', result: 'r', scope: { database: 'main' } }],
      },
    ],
  ])('is ignored with %s', async (_, look) => {
    const session = openShared()
    await session.change([{ ...completion, tool: 'look' }])
    expect(await counting(session)).toEqual(['look'])
    write(session.shared, { look })
    expect(await counting(session)).toEqual([])
  })

  it('is cleared with the session', async () => {
    const session = openShared()
    await session.change([{ ...completion, tool: 'look' }])
    expect(await session.clear()).toBe(true)
    expect(existsSync(session.shared)).toBe(false)
    expect(await counting(session)).toEqual([])
  })

  it('that is damaged is moved aside, and one of a newer version stops the calls', async () => {
    const session = openShared()
    writeFileSync(session.shared, '{')
    await session.change([{ ...completion, tool: 'look' }])
    expect(session.notes).toEqual([expect.stringContaining(`${session.shared}.damaged-`)])
    expect(await counting(session)).toEqual(['look'])
    const newer = '{"version": 2, "session_id": "a", "started_at": "2026-02-04"}'
    writeFileSync(session.shared, newer)
    await expect(session.change([{ ...completion, tool: 'other' }])).rejects.toThrow('newer')
    expect(readFileSync(session.shared, 'utf8')).toBe(newer)
  })

  it('does not exist for another session, or behind a link', () => {
    const { project } = openShared()
    expect(open({ project, id: 'a' }).sharedPath).toBeUndefined()
    const linked = temporaryProject()
    symlinkSync(join(project, '.opencode'), join(linked, '.opencode'))
    expect(open({ project: linked }).sharedPath).toBeUndefined()
  })
})

describe('a secret', () => {
  const token = ['gh', 'p_', 'q7R8'.repeat(9)].join('')

  it('is masked in a result, and a result with a secret is not stored for later steps', async () => {
    const store = open()
    const record = { kind: 'record', workflow: 'w', tool: 't', scope: {} } as const
    await store.change([
      { ...record, result: `it is ${token}`, value: { token } },
      { ...record, tool: 'u', result: 'opened', value: { sessionId: 'abc' } },
    ])
    const text = readFileSync(store.path, 'utf8')
    expect(text).not.toContain(token)
    expect(text).toContain('it is [redacted]')
    expect((await store.read()).state.completed[1]?.value).toEqual({
      sessionId: 'abc',
    })
  })
})
