import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TrustStore } from '../../src/trust/store.ts'
import { skillPart } from '../../src/trust/model.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { runHook } from '../../src/hooks/run-hook.ts'
import { readTraces } from '../../src/hooks/trace.ts'
import { cachePlace } from '../../src/hooks/trigger-cache.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { validateSkillAt } from '../../src/library/find-skill.ts'
import { contextIn, makeFixture, type Fixture } from './_fixture.ts'

function withSaw(): Fixture {
  const fixture = makeFixture()
  fixture.skill('saw', [
    ['^/saw program', 'references/program.md'],
    ['^/saw amend', 'references/amend.md'],
  ])
  fixture.write('.agents/skills/saw/references/program.md', 'PROGRAM\n')
  fixture.write('.agents/skills/saw/references/amend.md', 'AMEND\n')
  return fixture
}

it('injects the reference of a trigger that fires, and says that it is already loaded', async () => {
  const { ask } = withSaw()
  const answer = await ask('claude', '/saw program x')
  expect(JSON.parse(answer.stdout)).toMatchObject({
    hookSpecificOutput: { hookEventName: 'UserPromptSubmit' },
  })
  expect(contextIn(answer)).toContain('<!-- injected: references/program.md -->\nPROGRAM\n')
  expect(contextIn(answer)).toContain('do not load them again: saw/references/program.md')
  expect(answer.stderr).toBe('')
})

it('prints nothing if no trigger fires', async () => {
  const { ask, runtime } = withSaw()
  expect(await ask('claude', 'hello')).toEqual({ stdout: '', stderr: '' })
  expect(readTraces(runtime, 9).traces).toEqual([])
})

const answers: [Platform, unknown][] = [
  ['claude', { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'X' } }],
  ['codex', { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'X' } }],
  ['qwen', { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'X' } }],
  ['gemini', { hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: 'X' } }],
  ['copilot', { additionalContext: 'X' }],
  ['cursor', { continue: true, additional_context: 'X' }],
  ['opencode', { additionalContext: 'X' }],
  ['pi', { additionalContext: 'X' }],
]
it.each(answers)("answers %s in the client's own format", async (platform, shape) => {
  const { ask } = withSaw()
  const { stdout } = await ask(platform, '/saw program')
  const value: unknown = JSON.parse(stdout, (_, item: unknown) =>
    typeof item === 'string' && item.includes('PROGRAM') ? 'X' : item,
  )
  expect(value).toEqual(shape)
})

const calls: [Platform, string, string][] = [
  ['codex', '$saw program x', 'PROGRAM'],
  ['pi', '/skill:saw amend x', 'AMEND'],
  ['qwen', '# saw\n\n/saw amend x', 'AMEND'],
]
it.each(calls)('recognises how %s calls a skill: %j', async (platform, prompt, text) => {
  const { ask } = withSaw()
  expect((await ask(platform, prompt)).stdout).toContain(text)
})

it('reads the field names of Copilot, Cursor and an expansion in Claude Code', async () => {
  const { ask, project } = withSaw()
  const sent = [
    { sessionId: 's', timestamp: 1, cwd: project, prompt: '/saw program' },
    { conversation_id: 'c', workspace_roots: [project], prompt: '/saw program' },
    { cwd: project, command_name: 'saw', command_args: 'program x', prompt: 'the whole body' },
  ]
  for (const payload of sent) {
    const answer = await ask('copilot', '', { input: JSON.stringify(payload) })
    expect(answer.stdout).toContain('PROGRAM')
  }
})

it('notices a skill that is edited, added or removed', async () => {
  const { ask, skill, write, home } = withSaw()
  expect((await ask('claude', '/saw program')).stdout).toContain('PROGRAM')
  expect((await ask('claude', '/saw other')).stdout).toBe('')
  skill('saw', [['^/saw other', 'references/amend.md']])
  expect((await ask('claude', '/saw other')).stdout).toContain('AMEND')
  expect((await ask('claude', '/saw program')).stdout).toBe('')
  skill('new', [['^/new', 'a.md']], 'project/.claude/skills/group')
  write('.agents/skills/mine/readme.txt', '')
  expect((await ask('claude', '/mine')).stdout).toBe('')
  skill('mine', [['^/mine', 'a.md']])
  write('.agents/skills/mine/a.md', 'MINE')
  expect((await ask('claude', '/mine')).stdout).toContain('MINE')
  rmSync(join(home, '.agents/skills/saw'), { recursive: true })
  expect(await ask('claude', '/saw other')).toEqual({ stdout: '', stderr: '' })
})

it('rebuilds a damaged index', async () => {
  const { ask, home } = withSaw()
  await ask('claude', '/saw program')
  const directory = join(home, '.cache/skillrail/hooks')
  const [name = ''] = readdirSync(directory)
  for (const text of [
    '',
    'skillrail hooks 1         10\n{}',
    'skillrail hooks 9          2\n{}\n{}\n',
  ]) {
    writeFileSync(join(directory, name), text)
    expect((await ask('claude', '/saw program')).stdout).toContain('PROGRAM')
  }
})

it('injects nothing from an untrusted skill, and reports that', async () => {
  const { ask, skill, write, runtime } = makeFixture()
  skill('local', [['^/local', 'a.md']], 'project/.claude/skills')
  write('project/.claude/skills/local/a.md', 'LOCAL')
  const answer = await ask('claude', '/local')
  expect(answer.stdout).toBe('')
  expect(answer.stderr).toBe(
    'skillrail: local/a.md was not injected: the skill is not trusted (skillrail trust)\n',
  )
  expect(readTraces(runtime, 1).traces).toMatchObject([
    {
      injected: [],
      withheld: [
        { skill: 'local', path: 'a.md', reason: 'the skill is not trusted (skillrail trust)' },
      ],
    },
  ])
})

it('follows the trust in a workspace, and withholds references after an acting part changed', async () => {
  const { ask, skill, write, runtime, project } = makeFixture()
  skill('local', [['^/local', 'a.md']], 'project/.claude/skills')
  write('project/.claude/skills/local/a.md', 'LOCAL')
  expect((await ask('claude', '/local')).stdout).toBe('')
  await new TrustStore(runtime).accept(project, [skillPart('.claude/skills/local')])
  expect((await ask('claude', '/local')).stdout).toContain('LOCAL')
  write('project/.claude/skills/local/scripts/run.sh', '#!/bin/sh\n')
  expect((await ask('claude', '/local')).stdout).toBe('')
})

it('injects nothing from a text-only skill that was added after its project was trusted', async () => {
  const { ask, skill, write, runtime, project } = makeFixture()
  skill('late', [['^/late', 'a.md']], 'project/.claude/skills')
  write('project/.claude/skills/late/a.md', 'LATE')
  await new TrustStore(runtime).accept(project, [])
  expect(await ask('claude', '/late')).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('not trusted'),
  })
  await new TrustStore(runtime).accept(project, [], { newText: true })
  expect((await ask('claude', '/late')).stdout).toContain('LATE')
  await new TrustStore(runtime).accept(project, [skillPart('.claude/skills/late')])
  expect((await ask('claude', '/late')).stdout).toContain('LATE')
  write('project/.claude/skills/late/a.md', 'LATER')
  expect((await ask('claude', '/late')).stdout).toContain('LATER')
})

it('keeps no cache in the project, so that a repository cannot contain one', async () => {
  const { ask, skill, write, runtime, project } = makeFixture()
  skill('local', [['^/local', 'a.md']], 'project/.claude/skills')
  write('project/.claude/skills/local/a.md', 'LOCAL')
  const env = { XDG_CACHE_HOME: join(project, '.cache') }
  const usual = cachePlace({ ...runtime, cwd: project, env: {} })
  expect(cachePlace({ ...runtime, cwd: project, env }).path).toBe(usual.path)
  expect((await ask('claude', '/local', { env })).stdout).toBe('')
  expect(existsSync(join(project, '.cache'))).toBe(false)
})

it('gives the text of a rail even if no time is left for the triggers', async () => {
  const { runtime, project } = withSaw()
  let elapsed = 0
  const { stdout } = await runHook({
    platform: 'claude',
    part: { number: 1, of: 1 },
    input: JSON.stringify({ session_id: 's', cwd: project, prompt: '/saw program' }),
    runtime: { ...runtime, elapsed: () => elapsed },
    rail: {
      answer: () => {
        elapsed += 60_000
        return Promise.resolve({ kind: 'context', text: 'THE STEP' })
      },
    },
  })
  expect(stdout).toContain('THE STEP')
})

it('answers Cursor in its format if it runs the hook of Claude Code, and answers only one of two hooks', async () => {
  const { ask, write } = withSaw()
  const payload = { cursor_version: '3' }
  expect(JSON.parse((await ask('claude', '/saw program', { payload })).stdout)).toMatchObject({
    continue: true,
  })
  write(
    '.cursor/hooks.json',
    '{"hooks":{"beforeSubmitPrompt":[{"command":"/x/skillrail-hook cursor"}]}}',
  )
  expect((await ask('claude', '/saw program', { payload })).stdout).toBe('')
})

it('answers Claude Code in its format, whatever variables of other clients its settings set', async () => {
  const { ask, write } = withSaw()
  write(
    '.cursor/hooks.json',
    '{"hooks":{"beforeSubmitPrompt":[{"command":"/x/skillrail-hook cursor"}]}}',
  )
  const env = { CURSOR_VERSION: '3', COPILOT_CLI: '1' }
  expect((await ask('claude', '/saw program', { env })).stdout).toContain('hookSpecificOutput')
})

it('answers one turn once, however often a client asks', async () => {
  const { ask } = withSaw()
  const payload = { prompt_id: 'p1' }
  expect((await ask('claude', '/saw program', { payload })).stdout).toContain('PROGRAM')
  expect((await ask('claude', '/saw program', { payload })).stdout).toBe('')
  const next = { prompt_id: 'p2' }
  expect((await ask('claude', '/saw program', { payload: next })).stdout).toContain('PROGRAM')
})

it('injects a reference every time, or once per session until it changes', async () => {
  const { ask, write } = withSaw()
  const often = [await ask('claude', '/saw program'), await ask('claude', '/saw program')]
  expect(often.map(({ stdout }) => stdout.includes('PROGRAM'))).toEqual([true, true])
  const env = { SKILLRAIL_HOOKS_REPEAT: 'session' }
  const seen: boolean[] = []
  for (const session of ['a', 'a', 'b']) {
    const { stdout } = await ask('claude', '/saw program', {
      env,
      payload: { session_id: session },
    })
    seen.push(stdout.includes('PROGRAM'))
  }
  write('.agents/skills/saw/references/program.md', 'PROGRAM 2\n')
  const { stdout } = await ask('claude', '/saw program', { env, payload: { session_id: 'a' } })
  expect([...seen, stdout.includes('PROGRAM 2')]).toEqual([true, false, true, true])
})

it('delivers a reference of 12,000 characters whole, in the parts that Claude Code takes', async () => {
  const { ask, write } = withSaw()
  const lines = Array.from({ length: 240 }, (_, index) => `line ${index} ${'x'.repeat(40)}`)
  write('.agents/skills/saw/references/program.md', `${lines.join('\n')}\n`)
  const parts = await Promise.all(
    [1, 2, 3].map((number) => ask('claude', '/saw program', { part: { number, of: 3 } })),
  )
  const [first, second, third] = parts.map(({ stdout }) => stdout)
  expect(third).toBe('')
  expect(contextIn({ stdout: first ?? '', stderr: '' })).toMatch(/^\[Skillrail, part 1 of 2\]\n/)
  const whole = parts.slice(0, 2).map(contextIn)
  expect(whole.every((context) => context.length <= 10_000)).toBe(true)
  expect(second).toContain('part 2 of 2')
  const got = whole
    .join('\n')
    .split('\n')
    .filter((line) => line.startsWith('line '))
  expect(got).toEqual(lines)
})

it('names a reference that fits into no part, to be read first', async () => {
  const { ask, write, home } = withSaw()
  write('.agents/skills/saw/references/program.md', 'y'.repeat(50_000))
  const context = contextIn(await ask('claude', '/saw program', { part: { number: 1, of: 1 } }))
  expect(context).toBe(
    `These references did not fit here. Read them before you do anything else:\n${home}/.agents/skills/saw/references/program.md\n`,
  )
})

const broken: [string, string, string][] = [
  ['no JSON', 'hello', 'standard input holds no JSON object'],
  ['no object', '[1]', 'standard input holds no JSON object'],
  ['no prompt', '{"cwd":"/"}', 'standard input holds no prompt'],
  ['nothing', '', 'standard input holds no JSON object'],
]
it.each(broken)('lets a prompt through if its input is %s', async (_, input, message) => {
  const { ask } = withSaw()
  expect(await ask('claude', '', { input })).toEqual({
    stdout: '',
    stderr: `skillrail: ${message}\n`,
  })
})

it('reports a target that is missing, too large, binary or outside, and injects the others', async () => {
  const { ask, skill, write, home } = makeFixture()
  skill('bad', [
    ['^/bad', 'gone.md'],
    ['^/bad', 'large.md'],
    ['^/bad', 'binary.md'],
    ['^/bad', 'link.md'],
    ['^/bad', 'good.md'],
  ])
  write('.agents/skills/bad/large.md', 'x'.repeat(10 * 1024 * 1024))
  write('.agents/skills/bad/binary.md', 'a\0b')
  write('.agents/skills/bad/good.md', 'GOOD')
  symlinkSync('/etc/hostname', join(home, '.agents/skills/bad/link.md'))
  const answer = await ask('claude', '/bad')
  expect(contextIn(answer)).toContain('GOOD')
  expect(answer.stderr.split('\n')).toHaveLength(5)
})

it('handles prompts of a mebibyte, every control character, and patterns that make other engines backtrack', async () => {
  const { ask, skill, write } = makeFixture()
  skill('wild', [
    ['(a+)+$', 'a.md'],
    ['^-n', 'b.md'],
  ])
  write('.agents/skills/wild/a.md', 'AAA')
  write('.agents/skills/wild/b.md', 'BBB')
  const control = String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code))
  expect(contextIn(await ask('claude', `${control}\n-n\n${'ab'.repeat(524_288)}!`))).toContain(
    'BBB',
  )
  expect(contextIn(await ask('claude', 'a'.repeat(30_000)))).toContain('AAA')
})

it('handles hundreds of triggers in one skill', async () => {
  const { ask, skill, write } = makeFixture()
  const triggers = Array.from({ length: 500 }, (_, index) => [`^/many ${index}$`, 'a.md'] as const)
  skill('many', triggers)
  write('.agents/skills/many/a.md', 'MANY')
  expect((await ask('claude', '/many 489')).stdout).toContain('MANY')
  expect((await ask('claude', '/many 500')).stdout).toBe('')
})

it('masks secrets in the log', async () => {
  const { ask, runtime, home } = withSaw()
  await ask('claude', '/saw program with token=abcdef0123456789 and sk-ant-0123456789abcdefghij')
  const [trace] = readTraces(runtime, 1).traces
  expect(trace?.prompt).toBe('/saw program with token=[redacted] and [redacted]')
  const path = 'references/program.md'
  const file = join(home, '.agents/skills/saw', path)
  expect(trace?.injected).toEqual([{ skill: 'saw', path, characters: 8, file }])
})

it('keeps the log private and bounded', async () => {
  const { ask, home } = withSaw()
  const log = join(home, '.local/state/skillrail/hooks/log.jsonl')
  await ask('claude', '/saw program')
  expect(statSync(log).mode & 0o777).toBe(0o600)
  appendFileSync(log, ' '.repeat(1024 * 1024))
  await ask('claude', '/saw program again')
  expect(readFileSync(log, 'utf8').split('\n')).toHaveLength(2)
  expect(statSync(`${log}.1`).mode & 0o777).toBe(0o600)
})

it('works if nothing can be written', async () => {
  const { ask, home } = withSaw()
  for (const directory of ['.cache', '.local']) writeFileSync(join(home, directory), '')
  expect((await ask('claude', '/saw program')).stdout).toContain('PROGRAM')
  expect(existsSync(join(home, '.cache/skillrail'))).toBe(false)
})

it('answers correctly while a skill is deleted', async () => {
  const { ask, home } = withSaw()
  await ask('claude', '/saw program')
  const asked = Promise.all(Array.from({ length: 20 }, () => ask('claude', '/saw program')))
  rmSync(join(home, '.agents/skills/saw/references'), { recursive: true })
  mkdirSync(join(home, '.agents/skills/saw/references'))
  for (const { stdout } of await asked)
    expect(stdout === '' || stdout.includes('PROGRAM')).toBe(true)
})

it('logs the skills that cannot be used, and continues with the others', async () => {
  const { ask, skill, write, runtime } = makeFixture()
  skill('saw', [['^/saw', 'a.md']])
  write('.agents/skills/saw/a.md', 'FLOW')
  write('.agents/skills/bad/SKILL.md', '---\nname: bad\ntriggers:\n  - match: "^/x \\w+"\n---\n')
  expect((await ask('claude', '/saw')).stdout).toContain('FLOW')
  const errors = readTraces(runtime, 9).traces.flatMap(({ error }) => error ?? [])
  expect(errors.join('\n')).toMatch(/bad\/SKILL\.md:4: /)
})

it('names references that do not fit the budget by their paths', async () => {
  const { ask, skill, write } = makeFixture()
  write('.config/skillrail/config.json', '{ "hooks": { "budget": 1000 } }')
  skill('saw', [
    ['^/saw', 'a.md'],
    ['^/saw', 'b.md'],
  ])
  write('.agents/skills/saw/a.md', 'x'.repeat(8000))
  const small = write('.agents/skills/saw/b.md', 'SMALL')
  const { stdout } = await ask('gemini', '/saw')
  expect(stdout).toContain('SMALL')
  expect(stdout).toContain(small.replace('b.md', 'a.md'))
  expect(stdout.length).toBeLessThan(4000)
})

describe('the line about references for the user', () => {
  function fixtureWith(notice: string | undefined, names: readonly string[]) {
    const fixture = makeFixture()
    const config = notice === undefined ? {} : { hooks: { notice } }
    fixture.write('.config/skillrail/config.json', JSON.stringify(config))
    fixture.skill(
      'saw',
      names.map((name) => ['^/saw', name]),
    )
    for (const name of names) fixture.write(`.agents/skills/saw/${name}`, `TEXT of ${name}`)
    return fixture
  }
  const shown = ({ stdout }: { stdout: string }): unknown => JSON.parse(stdout).systemMessage

  it.each(['claude', 'codex', 'gemini', 'qwen'] as const)(
    'is shown by %s beside the references, if the user wants it',
    async (client) => {
      const { ask } = fixtureWith('line', ['a.md', 'b.md'])
      const answer = await ask(client, '/saw')
      expect(shown(answer)).toBe('Skillrail added saw/a.md, saw/b.md')
      expect(answer.stdout).toContain('TEXT of a.md')
    },
  )

  it('names the first of many', async () => {
    const { ask } = fixtureWith('line', ['a.md', 'b.md', 'c.md', 'd.md', 'e.md'])
    const line = 'Skillrail added saw/a.md, saw/b.md, saw/c.md and 2 more'
    expect(shown(await ask('claude', '/saw'))).toBe(line)
  })

  it.each(['none', undefined])('is not shown otherwise: %s', async (notice) => {
    const { ask } = fixtureWith(notice, ['a.md'])
    const answer = await ask('claude', '/saw')
    expect(answer.stdout).toContain('TEXT of a.md')
    expect(shown(answer)).toBeUndefined()
  })

  it('changes nothing in the clients that show no line, and at a prompt without references', async () => {
    const { ask } = fixtureWith('line', ['a.md'])
    expect((await ask('claude', 'something else')).stdout).toBe('')
    for (const client of ['copilot', 'cursor', 'opencode', 'pi'] as const) {
      expect((await ask(client, '/saw')).stdout).not.toContain('Skillrail added')
    }
  })
})

it('injects the SKILL.md itself if a trigger names it, without a warning', async () => {
  const { ask, skill, runtime } = makeFixture()
  const path = skill('saw', [['^/saw', 'SKILL.md']])
  expect(contextIn(await ask('claude', '/saw x'))).toContain('# saw')
  expect(discoverSkills({ runtime }).skills[0]?.diagnostics).toEqual([])
  const { valid, diagnostics } = validateSkillAt(path)
  expect({
    valid,
    diagnostics: diagnostics.filter(({ severity }) => severity === 'error'),
  }).toEqual({
    valid: true,
    diagnostics: [],
  })
})
