import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../src/core/errors.ts'
import { SubagentNotFoundError } from '../../../src/agent/errors.ts'
import { discoverAgents } from '../../../src/agent/subagents/discover-agents.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import { runCli } from '../../cli/run-cli.ts'
import { fixture, type Fixture } from '../../library/_fixture.ts'
import { delegating } from './_parent.ts'

function agentText(name: string, more = '', body = `You are ${name}.`): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n${body}\n`
}

function names(place: Fixture, trusted = true): string[] {
  const workspaceTrust = trusted ? 'trusted' : 'ask'
  const { agents } = discoverAgents({ runtime: place.runtime, workspaceTrust })
  return agents.map(({ config, source }) => `${config.name} ${source}`)
}

interface Listed {
  agents: { name: string; source: string; shadows?: string[] }[]
  diagnostics: Diagnostic[]
}

/** What the command says of the subagents of a place. */
async function listed({ project, home }: Fixture, ...options: string[]): Promise<Listed> {
  const args = ['agent', 'subagents', 'list', '--json', ...options]
  return JSON.parse((await runCli(args, { cwd: project, home })).stdout)
}

async function accept(place: Fixture): Promise<void> {
  const parts = collectActingParts(place.project, [])
  await new TrustStore(place.runtime).accept(place.project, parts)
}

describe('files that define subagents', () => {
  it('finds definitions in the project and in the home of the user, in order of precedence', async () => {
    const place = fixture()
    place.write({
      'project/.mamba/agents/d.md': agentText('d'),
      'project/.claude/agents/c.md': agentText('c'),
      'project/.agents/agents/b.md': agentText('b'),
      'project/.skillrail/agents/a.md': agentText('a'),
      'home/.mamba/agents/e.md': agentText('e'),
      'home/.claude/agents/a.md': agentText('a'),
    })
    const { agents } = await listed(place, '--trust-workspace')
    expect(agents.map(({ name, source }) => `${name} ${source}`)).toEqual([
      'a .skillrail/agents',
      'b .agents/agents',
      'c .claude/agents',
      'd .mamba/agents',
      'e ~/.mamba/agents',
    ])
    expect(agents[0]?.shadows).toEqual([join(place.home, '.claude/agents/a.md')])
  })

  it('are found from the working directory up to the root of the repository, the nearest first', () => {
    const place = fixture()
    place.write({
      'project/.claude/agents/a.md': agentText('a', '', 'outer'),
      'project/packages/one/.claude/agents/a.md': agentText('a', '', 'inner'),
      '.claude/agents/outside.md': agentText('outside'),
    })
    const runtime = { ...place.runtime, cwd: join(place.project, 'packages/one') }
    const { agents } = discoverAgents({ runtime, workspaceTrust: 'trusted' })
    expect(agents.map(({ config }) => config.systemPrompt)).toEqual(['inner'])
  })

  it('can be in folders below these directories too', () => {
    const place = fixture()
    place.write({ 'home/.claude/agents/team/lead.md': agentText('lead') })
    expect(names(place)).toEqual(['lead ~/.claude/agents'])
  })

  it('get the parent’s tools without `tools` only in `.claude/agents`', () => {
    const place = fixture()
    place.write({
      'home/.claude/agents/a.md': agentText('a'),
      'home/.skillrail/agents/b.md': agentText('b'),
    })
    const { agents } = discoverAgents({ runtime: place.runtime })
    expect(agents.map(({ config }) => config.tools)).toEqual([undefined, ['*']])
  })

  it('reports a broken definition with its line and finds the others', async () => {
    const place = fixture()
    place.write({
      'home/.claude/agents/bad.md': agentText('bad', 'max-turns: x\n'),
      'home/.claude/agents/good.md': agentText('good'),
      'home/.claude/agents/text.md': 'Just a text.',
      'home/.claude/agents/notes.txt': 'No definition.',
    })
    mkdirSync(join(place.home, '.claude/agents/folder.md'))
    symlinkSync('nowhere', join(place.home, '.claude/agents/link.md'))
    const { agents, diagnostics } = await listed(place)
    expect(agents.map(({ name }) => name)).toEqual(['good'])
    const file = (path = ''): string | undefined => path.split('/').at(-1)
    expect(diagnostics.map(({ code, path, line }) => [code, file(path), line])).toEqual([
      ['field-type', 'bad.md', 4],
      ['file-missing', 'link.md', undefined],
      ['frontmatter-missing', 'text.md', 1],
    ])
  })

  it('reports two definitions with one name in a directory, and uses the first', () => {
    const place = fixture()
    place.write({
      'home/.claude/agents/a.md': agentText('same', '', 'first'),
      'home/.claude/agents/b.md': agentText('same', '', 'second'),
    })
    const { agents, diagnostics } = discoverAgents({ runtime: place.runtime })
    expect(agents.map(({ config }) => config.systemPrompt)).toEqual(['first'])
    expect(diagnostics).toMatchObject([{ code: 'agent-twice', severity: 'warning' }])
  })
})

describe('trust', () => {
  it('does not use definitions of an untrusted project, and says how to allow them', async () => {
    const place = fixture()
    place.write({
      'project/.claude/agents/a.md': agentText('a'),
      'home/.claude/agents/a.md': agentText('a', '', 'the user’s'),
      'project/.claude/agents/b.md': agentText('b'),
    })
    const discovery = discoverAgents({ runtime: place.runtime })
    expect(discovery.agents.map(({ config }) => config.systemPrompt)).toEqual(['the user’s'])
    expect(discovery.diagnostics.map(({ code }) => code)).toEqual([
      'agent-untrusted',
      'agent-untrusted',
    ])
    const { manager } = delegating({
      configs: [],
      parent: { runtime: place.runtime, discover: true },
    })
    const error = await manager.delegate('b', 'Go.').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SubagentNotFoundError)
    expect(error).toMatchObject({
      message: expect.stringContaining('its workspace was never trusted'),
      hint: expect.stringContaining('skillrail trust'),
    })
  })

  it('withholds a definition in a trusted project after a change of what acts, not of the prompt', async () => {
    const place = fixture()
    const file = 'project/.claude/agents/a.md'
    place.write({ [file]: agentText('a', 'tools: Read\n') })
    await accept(place)
    expect(names(place, false)).toEqual(['a .claude/agents'])
    place.write({ [file]: agentText('a', 'tools: Read\n', 'Another prompt.') })
    expect(names(place, false)).toEqual(['a .claude/agents'])
    place.write({ [file]: agentText('a', 'tools: Read, Bash\n') })
    expect(names(place, false)).toEqual([])
    await accept(place)
    expect(names(place, false)).toEqual(['a .claude/agents'])
  })

  it('does not use a new file in a trusted project before it is accepted', async () => {
    const place = fixture()
    await accept(place)
    place.write({ 'project/.claude/agents/a.md': agentText('a') })
    expect(names(place, false)).toEqual([])
  })

  it('withholds a definition in a pinned project after a change of the prompt too', async () => {
    const place = fixture()
    const file = 'project/.claude/agents/a.md'
    place.write({ [file]: agentText('a') })
    const parts = collectActingParts(place.project, [], { text: true })
    await new TrustStore(place.runtime).accept(place.project, parts, { pinned: true })
    expect(names(place, false)).toEqual(['a .claude/agents'])
    place.write({ [file]: agentText('a', '', 'Another prompt.') })
    expect(names(place, false)).toEqual([])
  })

  it('does not trust a link that leads out of a trusted project', async () => {
    const place = fixture()
    place.write({ 'elsewhere/a.md': agentText('a') })
    mkdirSync(join(place.project, '.claude/agents'), { recursive: true })
    symlinkSync(join(place.root, 'elsewhere/a.md'), join(place.project, '.claude/agents/a.md'))
    await accept(place)
    expect(names(place, false)).toEqual([])
    expect(names(place)).toEqual([])
  })
})

describe('a manager with files', () => {
  it('finds definitions in files and prefers one in code', async () => {
    const place = fixture()
    place.write({
      'home/.claude/agents/a.md': agentText('a'),
      'home/.claude/agents/worker.md': agentText('worker'),
    })
    const { manager } = delegating({ parent: { runtime: place.runtime, discover: true } })
    expect((await manager.list()).map(({ name, description }) => [name, description])).toEqual([
      ['worker', 'Works.'],
      ['a', 'Does a.'],
    ])
    expect(await manager.deregister('worker')).toBe(true)
    expect(await manager.get('worker')).toBeUndefined()
  })
})
