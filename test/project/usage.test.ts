import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { writeTrace } from '../../src/hooks/trace.ts'
import type { Usage } from '../../src/project/usage.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

const now = Date.parse('2026-11-20T12:00:00Z')
const at = (minutes: number): string => new Date(now - minutes * 60_000).toISOString()
const hour = 60
const day = 24 * hour

let home: string
let project: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'usage-home-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  project = join(home, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  for (const name of ['deploy', 'chart', 'idle']) {
    const skill = `.agents/skills/${name}`
    write(
      `${skill}/SKILL.md`,
      `---\nname: ${name}\ndescription: Does ${name}. Use to ${name}.\n---\n`,
    )
    write(`${skill}/references/flow.md`, 'FLOW\n')
  }
})

function write(path: string, content: string | Buffer): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

const skillFile = (name: string, path = 'SKILL.md'): string =>
  join(home, '.agents/skills', name, path)

function run(...words: readonly string[]): Promise<CliResult> {
  const runtime = { now: () => now }
  return runInProcess(['usage', ...words], { cwd: project, home, runtime })
}

async function usage(...words: readonly string[]): Promise<Usage> {
  const { code, stdout, stderr } = await run(...words, '--json')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}

/** `[given, read, ran]` of each skill. */
async function uses(...words: readonly string[]): Promise<Record<string, number[]>> {
  const { skills } = await usage(...words)
  return Object.fromEntries(skills.map(({ name, given, read, ran }) => [name, [given, read, ran]]))
}

const clientOf = ({ clients }: Usage, name: string) => clients.find(({ client }) => client === name)

describe('Claude Code’s transcripts', () => {
  let rows = 0
  const place = (minutes: number) => ({
    uuid: `row-${++rows}`,
    sessionId: 's1',
    cwd: project,
    timestamp: at(minutes),
    version: '2.1.332',
    isSidechain: false,
  })
  const cost = (input: number, output: number, cached = 0) => ({
    input_tokens: input,
    cache_creation_input_tokens: 5,
    cache_read_input_tokens: cached,
    output_tokens: output,
    service_tier: 'standard',
  })
  const answer = (id: string, content: readonly object[], more: object = {}, minutes = hour) => ({
    type: 'assistant',
    ...place(minutes),
    message: { id, role: 'assistant', model: 'opus', content, usage: cost(10, 20, 30) },
    ...more,
  })
  const call = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
  const result = (id: string, more: object = {}, minutes = hour) => ({
    type: 'user',
    ...place(minutes),
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'text', ...more }],
    },
  })
  const transcript = (name: string, lines: readonly (object | string | Buffer)[]): string => {
    const texts = lines.map((line) =>
      typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line),
    )
    const parts = texts.flatMap((text) => [Buffer.from(text), Buffer.from('\n')])
    return write(`.claude/projects/-project/${name}.jsonl`, Buffer.concat(parts.slice(0, -1)))
  }

  it('count a call of the model once, with the last numbers of its rows', async () => {
    const text = { type: 'text', text: 'x' }
    const first = answer('m1', [text])
    first.message.usage = cost(10, 1, 30)
    transcript('s1', [first, answer('m1', [text]), answer('m2', [text])])
    expect(clientOf(await usage(), 'claude')).toMatchObject({
      transcripts: 'read',
      sessions: 1,
      models: [
        {
          model: 'opus',
          calls: 2,
          tokens: { input: 20, cacheRead: 60, cacheWrite: 10, output: 40 },
        },
      ],
    })
  })

  it('count what resumed sessions and subagents repeat once, and the rest of them too', async () => {
    const read = [
      answer('m1', [call('c1', 'Read', { file_path: skillFile('deploy') })]),
      result('c1'),
    ]
    transcript('s1', read)
    transcript('s2', [
      ...read.map((row) => ({ ...row, sessionId: 's2' })),
      answer('m2', [], { sessionId: 's2' }),
    ])
    const inside = { isSidechain: true, agentId: 'a1' }
    transcript('s1/subagents/agent-a1', [
      answer('m1', [], { ...inside, requestId: 'another' }),
      answer('m3', [call('c2', 'Read', { file_path: skillFile('chart') })], inside),
      result('c2'),
    ])
    expect(await uses()).toEqual({ deploy: [0, 1, 0], chart: [0, 1, 0], idle: [0, 0, 0] })
    expect(clientOf(await usage(), 'claude')).toMatchObject({ sessions: 2, models: [{ calls: 3 }] })
  })

  it('show what the agent opened: with its tool, with a command, and as a called skill', async () => {
    symlinkSync(join(home, '.agents/skills/chart'), join(home, 'linked-chart'))
    const called = `Base directory for this skill: ${join(home, '.agents/skills/idle')}\n\n# Idle`
    const commands: readonly [string, string][] = [
      ['c1', `cd ${join(home, '.agents/skills/deploy')} && cat -n references/flow.md | head -5`],
      ['c2', `bash -lc "sed -n '1,9p' ~/.agents/skills/deploy/SKILL.md"`],
      ['c3', 'cat "$HOME/linked-chart/references/flow.md"'],
      ['c4', 'ls ~/.agents/skills/deploy; cat ~/.agents/skills/deploy/*.md; echo deploy/SKILL.md'],
    ]
    transcript('s1', [
      ...commands.flatMap(([id, command]) => [
        answer(id, [call(id, 'Bash', { command })]),
        result(id),
      ]),
      {
        type: 'user',
        ...place(hour),
        isMeta: true,
        message: { content: [{ type: 'text', text: called }] },
      },
      { type: 'user', ...place(hour), message: { content: called } },
    ])
    const { skills } = await usage()
    const files = Object.fromEntries(
      skills.flatMap((skill) =>
        skill.files.map(({ path, read }) => [`${skill.name}/${path}`, read]),
      ),
    )
    expect(files).toEqual({
      'deploy/SKILL.md': 1,
      'deploy/references/flow.md': 1,
      'chart/SKILL.md': 0,
      'chart/references/flow.md': 1,
      'idle/SKILL.md': 1,
      'idle/references/flow.md': 0,
    })
  })

  it('count a copy of the skill in the folder of another client for the one that is used', async () => {
    const copy = write(
      '.claude/skills/deploy/SKILL.md',
      '---\nname: deploy\ndescription: D.\n---\n',
    )
    transcript('s1', [
      answer('c1', [call('c1', 'Read', { file_path: copy })]),
      result('c1'),
      answer('c2', [call('c2', 'Read', { file_path: skillFile('deploy') })]),
      result('c2'),
    ])
    const { skills } = await usage()
    expect(skills.map(({ name, read }) => [name, read])).toEqual([
      ['deploy', 2],
      ['chart', 0],
      ['idle', 0],
    ])
  })

  it('do not count a call that was denied, failed, or has no result', async () => {
    const read = (id: string) => answer(id, [call(id, 'Read', { file_path: skillFile('deploy') })])
    const edit = answer('c3', [call('c3', 'Edit', { file_path: skillFile('deploy') })])
    transcript('s1', [read('c1'), result('c1', { is_error: true }), read('c2'), edit, result('c3')])
    expect((await uses())['deploy']).toEqual([0, 0, 0])
  })

  it('count lines that cannot be read, and the rest of the file', async () => {
    const path = transcript('s1', [
      answer('m1', []),
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      'not JSON',
      '[1]',
      '',
      '{"type":"assistant","uuid":"x","sessionId":"s1","message":{"content":"another form"}}',
      { type: 'a kind to come', sessionId: 's1', anything: {} },
      `{"type":"other","text":"${'x'.repeat(65 * 1024 * 1024)}"}`,
      answer('m2', []),
      JSON.stringify(answer('m3', [])).slice(0, -9),
    ])
    const read = await usage()
    expect(clientOf(read, 'claude')?.models).toMatchObject([{ calls: 2 }])
    expect(read.diagnostics).toMatchObject([
      { path, severity: 'warning', message: expect.stringContaining('has 6 lines that cannot') },
    ])
  })

  it('name a file in an unknown format, and count nothing of it', async () => {
    const utf16 = Buffer.from(`\ufeff${JSON.stringify(answer('m1', []))}\n`, 'utf16le')
    const paths = [
      transcript('later', ['{"kind":"answer","session":"s1","tokens":12}']),
      transcript('utf16', [utf16]),
      write('.claude/projects/-project/binary.jsonl', Buffer.alloc(100_000, 200)),
    ]
    const read = await usage()
    expect(clientOf(read, 'claude')?.models).toEqual([])
    expect(read.diagnostics.map(({ path }) => path).toSorted()).toEqual(paths.toSorted())
    expect(read.diagnostics[0]?.message).toContain('no session of Claude Code in a known format')
    expect((await run()).stderr).toContain(paths[0])
  })

  it('accept a byte-order mark and the line ends of Windows', async () => {
    transcript('s1', [`\ufeff${JSON.stringify(answer('m1', []))}\r`, answer('m2', [])])
    const read = await usage()
    expect(clientOf(read, 'claude')?.models).toMatchObject([{ calls: 2 }])
    expect(read.diagnostics).toEqual([])
  })

  it('count from the moment that is asked for, and only in this project if that is asked for', async () => {
    const elsewhere = { cwd: join(home, 'other') }
    transcript('s1', [
      answer('m1', [], {}, 40 * day),
      answer('m2', [], {}, 3 * day),
      answer('m3', [], {}, hour),
      answer('m4', [], { ...elsewhere, sessionId: 's2' }, hour),
      {
        type: 'assistant',
        ...place(1),
        message: {
          id: 'e',
          model: '<synthetic>',
          content: [],
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      },
    ])
    const calls = async (...words: readonly string[]) =>
      clientOf(await usage(...words), 'claude')?.models.map((model) => model.calls)
    expect(await calls()).toEqual([3])
    expect(await calls('--since', '2h')).toEqual([2])
    expect(await calls('--since', '2h', '--project')).toEqual([1])
    expect(await calls('--since', '9w')).toEqual([4])
    expect(await calls('--since', '2026-11-01')).toEqual([3])
    const old = transcript('old', [answer('m5', [], {}, hour)])
    utimesSync(old, 0, now / 1000 - 31 * 24 * 3600)
    expect(await calls()).toEqual([3])
  })
})

describe('Codex’s transcripts', () => {
  const row = (type: string, payload: object, minutes = hour) => ({
    timestamp: at(minutes),
    type,
    payload,
  })
  const head = (id: string, more: object = {}) => [
    row('session_meta', { id, cwd: project, cli_version: '0.171.0', ...more }),
    row('turn_context', { cwd: project, model: 'gpt' }),
  ]
  const usageNumbers = (input: number, cached: number, output: number) => ({
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: 1,
    total_tokens: input + output,
  })
  /** The count after a number of calls that cost the same. */
  const count = (calls: number, minutes = hour) =>
    row(
      'event_msg',
      {
        type: 'token_count',
        info: {
          total_token_usage: usageNumbers(100 * calls, 40 * calls, 10 * calls),
          last_token_usage: usageNumbers(100, 40, 10),
        },
        rate_limits: null,
      },
      minutes,
    )
  const shell = (id: string, input: object, name = 'exec_command') => [
    row('response_item', {
      type: 'function_call',
      name,
      call_id: id,
      arguments: JSON.stringify(input),
    }),
    row('response_item', { type: 'function_call_output', call_id: id, output: 'text' }),
  ]
  const text = (rows: readonly object[]) => rows.map((one) => `${JSON.stringify(one)}\n`).join('')
  const place = (id: string) => `.codex/sessions/2026/11/20/rollout-2026-11-20T11-00-00-${id}.jsonl`
  const transcript = (id: string, rows: readonly object[]): string => write(place(id), text(rows))

  it('count each call of the model, without what the cache gave, and skip repeated counts', async () => {
    const limits = row('event_msg', { type: 'token_count', info: null, rate_limits: {} })
    transcript('t1', [...head('t1'), limits, count(1), count(1), count(2)])
    expect(clientOf(await usage(), 'codex')).toMatchObject({
      sessions: 1,
      models: [
        {
          model: 'gpt',
          calls: 2,
          tokens: { input: 120, cacheRead: 80, cacheWrite: 0, output: 20 },
        },
      ],
    })
  })

  it('do not count what a forked session or a subagent copies from its origin', async () => {
    const read = shell('c1', { cmd: `cat ${skillFile('deploy')}` })
    transcript('origin', [...head('origin'), ...read, count(1, 50 * day), count(2, 50 * day)])
    utimesSync(join(home, place('origin')), 0, now / 1000 - 50 * 24 * 3600)
    const copy = [...head('fork', { forked_from_id: 'origin' }), ...head('origin'), ...read]
    transcript('fork', [
      ...copy,
      count(1),
      count(2),
      count(3),
      ...shell('c2', { cmd: `cat ${skillFile('chart')}` }),
    ])
    transcript('subagent', [...head('subagent', { forked_from_id: 'fork' }), count(1)])
    transcript('orphan', [...head('orphan', { forked_from_id: 'gone' }), count(1)])
    const read30 = await usage()
    // The first count of the subagent equals that of its origin, which nothing tells from a copy.
    expect(clientOf(read30, 'codex')).toMatchObject({ sessions: 2, models: [{ calls: 2 }] })
    expect(await uses()).toMatchObject({ deploy: [0, 0, 0], chart: [0, 1, 0] })
    expect(clientOf(await usage('--since', '60d'), 'codex')?.models).toMatchObject([{ calls: 4 }])
  })

  it('show what commands of every form opened, and a called skill', async () => {
    const skill = `<skill>\n<name>idle</name>\n<path>${skillFile('idle')}</path>\n---\n</skill>`
    transcript('t1', [
      ...head('t1'),
      ...shell('c1', {
        cmd: 'cat references/flow.md',
        workdir: join(home, '.agents/skills/deploy'),
      }),
      ...shell('c2', { command: ['bash', '-lc', `head ${skillFile('deploy')}`] }, 'shell'),
      ...shell('c3', { command: `cat < ${skillFile('chart')}` }, 'shell_command'),
      row('response_item', {
        type: 'message',
        role: 'user',
        id: 'm1',
        content: [{ type: 'input_text', text: skill }],
      }),
      shell('c4', { cmd: `cat ${skillFile('chart')}` })[0] ?? {},
    ])
    expect(await uses()).toEqual({ deploy: [0, 2, 0], chart: [0, 1, 0], idle: [0, 1, 0] })
  })

  it('are read where the client compressed them, and once if both forms exist', async () => {
    const rows = text([...head('t1'), count(1)])
    write(`${place('t1')}.zst`, zstdCompressSync(rows))
    expect(clientOf(await usage(), 'codex')?.models).toMatchObject([{ calls: 1 }])
    write(place('t1'), rows)
    expect(clientOf(await usage(), 'codex')?.models).toMatchObject([{ calls: 1 }])
    const path = write(`${place('t2')}.zst`, 'this is not compressed')
    expect((await usage()).diagnostics).toMatchObject([{ path }])
  })

  it('name a file of an earlier format, and lines in an unknown form', async () => {
    const old = transcript('t0', [{ id: 't0', timestamp: at(1), instructions: null }])
    const strange = row('event_msg', { type: 'token_count', info: { tokens: 5 } })
    const path = transcript('t1', [...head('t1'), strange, count(1)])
    const read = await usage()
    expect(clientOf(read, 'codex')?.models).toMatchObject([{ calls: 1 }])
    expect(read.diagnostics.map((one) => [one.path, one.message])).toEqual([
      [old, expect.stringContaining('no session of Codex in a known format')],
      [path, expect.stringContaining('has 1 line that cannot be read')],
    ])
  })
})

describe('the log of the hook', () => {
  const runtime = () => systemRuntime({ cwd: project, env: { HOME: home }, home, now: () => now })
  const trace = (minutes: number, more: object = {}) =>
    writeTrace(runtime(), {
      at: at(minutes),
      platform: 'gemini',
      cwd: project,
      session: 's1',
      prompt: 'SECRET WORDS',
      injected: [],
      withheld: [],
      durationMs: 1,
      ...more,
    })
  const flow = (name: string) => ({
    skill: name,
    path: 'references/flow.md',
    file: skillFile(name, 'references/flow.md'),
    characters: 400,
  })

  it('says what was given, to which client, and how much', async () => {
    trace(hour, { injected: [flow('deploy'), flow('chart')] })
    trace(2 * hour, { injected: [{ ...flow('deploy'), file: undefined }] })
    trace(40 * day, { injected: [flow('deploy')] })
    const read = await usage()
    expect(read.skills[0]).toMatchObject({
      name: 'deploy',
      given: 2,
      lastUsed: at(hour),
      files: [{ path: 'SKILL.md' }, { path: 'references/flow.md', given: 2 }],
    })
    expect(clientOf(read, 'gemini')).toMatchObject({
      transcripts: 'not-read',
      injected: { events: 2, characters: 1200, tokens: 300 },
    })
    const { stdout } = await run()
    expect(stdout).toContain('Never used: 1 of 3 skills: idle')
    expect(stdout).toContain(
      'Transcripts that are not read: Gemini CLI (about 300 tokens from the hook)',
    )
    expect(stdout).not.toContain('SECRET')
  })

  it('does not count the skill of another project that has the same name', async () => {
    const file = write('other/.agents/skills/deploy/references/flow.md', 'x')
    trace(hour, { injected: [{ ...flow('deploy'), file }], cwd: join(home, 'other') })
    expect((await uses())['deploy']).toEqual([0, 0, 0])
  })

  it('is incomplete if it was shortened in the period, and says so', async () => {
    const log = join(home, '.local/state/skillrail/hooks/log.jsonl')
    trace(hour, { injected: [flow('deploy')] })
    expect((await usage()).hookLog).toMatchObject({ path: log, isShortened: false, from: at(hour) })
    writeFileSync(`${log}.1`, '{"at":"cut off\n')
    expect((await usage()).hookLog).toMatchObject({ isShortened: true, unreadable: 1 })
    const { stdout, stderr } = await run()
    expect(stdout).toContain('The log of the hook begins at 2026-11-20')
    expect(stderr).toContain('1 line of')
    expect((await usage('--since', '30d', '--project')).skills[0]?.given).toBe(1)
  })
})

it('says which skills were steps of runs, and leaves out skipped steps and results of other runs', async () => {
  const skill = (name: string, exit: number) => {
    const place = `.agents/skills/${name}`
    write(`${place}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}.\n---\n`)
    chmodSync(write(`${place}/scripts/run.sh`, `#!/bin/sh\nexit ${exit}\n`), 0o755)
  }
  skill('build', 0)
  skill('check', 1)
  skill('undo', 0)
  skill('publish', 0)
  const lines = ['build', 'undo when=build.failure', 'check', 'publish when=check.success']
  const chain = lines.map((line) => `    ${line}\n`).join('')
  const metadata = `metadata:\n  chain: |\n${chain}`
  write('.agents/skills/ship/SKILL.md', `---\nname: ship\ndescription: Ships.\n${metadata}---\n`)
  const options = { cwd: project, home, runtime: { now: () => now } }
  await runInProcess(['run', 'build'], options)
  const later = { ...options, runtime: { now: () => now + 1000 } }
  expect(await runInProcess(['run', 'ship'], later)).toMatchObject({ code: 1 })
  // Reuses the result of `build`.
  expect(await runInProcess(['runs', 'retry', 'latest'], later)).toMatchObject({ code: 1 })
  expect(await uses()).toMatchObject({
    ship: [0, 0, 2],
    build: [0, 0, 2],
    check: [0, 0, 2],
    undo: [0, 0, 0],
    publish: [0, 0, 0],
  })
})

describe('the option --since', () => {
  it.each([
    '',
    '0',
    '30',
    'd',
    '3y',
    '-1d',
    '2026-13-01',
    '2026-02-30',
    '2026-11-01 10:00',
    '2031-01-01',
  ])('refuses %j with an example', async (text) => {
    const { code, stderr } = await run('--since', text)
    expect(code).toBe(2)
    expect(stderr).toContain('--since is')
    expect(stderr).toContain('30d')
  })

  it('takes dates in the zone of the user, and of another one', async () => {
    const since = async (text: string) => (await usage('--since', text)).since
    expect(await since('2026-11-01')).toBe(new Date(2026, 10, 1).toISOString())
    expect(await since('2026-11-01T09:30')).toBe(new Date(2026, 10, 1, 9, 30).toISOString())
    expect(await since('2026-11-01T09:30+02:00')).toBe('2026-11-01T07:30:00.000Z')
    expect(await since('36h')).toBe(at(36 * hour))
  })
})
