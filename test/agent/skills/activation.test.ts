import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineSkill } from '../../../src/library/manager.ts'
import { SkillInvocationError } from '../../../src/skill/errors.ts'
import { emptyFixture, withAgent } from '../_agent-fixture.ts'
import { call, calls, echoTool, type Reply, says, scripted } from '../mock-replies.ts'

it('offers nothing about skills without skills', async () => {
  const place = withAgent(emptyFixture(), [says('hello')])
  await place.ask('hi')
  expect(place.seen(0)).toEqual([])
  expect(JSON.stringify(place.model.doGenerateCalls[0]?.prompt)).not.toContain('kill')
})

it('returns the content of a skill, with its arguments, to a model that activates it', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/greet', { body: 'Greet $0 and $ARGUMENTS. Cost: \\$1.' })
  const agent = withAgent(place, [
    call('skill', { name: 'greet', arguments: '"a b" $0 $1' }),
    says('done'),
  ])
  const { status } = await agent.ask('please greet')
  expect(status).toBe('completed')
  expect(agent.seen(0)).toEqual(['skill'])
  expect(JSON.stringify(agent.model.doGenerateCalls[0]?.prompt)).toContain('<name>\\ngreet')
  expect(agent.results(1)[0]).toContain('Greet a b and "a b" $0 $1. Cost: $1.')
  expect(agent.events.filter(({ type }) => type === 'skill')).toEqual([
    { type: 'skill', agent: 'main', name: 'greet', active: true },
    { type: 'skill', agent: 'main', name: 'greet', active: false },
  ])
})

it('hides a skill with disable-model-invocation from the model, but not from the user', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/secret', { more: 'disable-model-invocation: true' })
  place.skill('project/.claude/skills/open')
  const agent = withAgent(place, [call('skill', { name: 'secret' }), says('no'), says('yes')])
  await agent.ask('go')
  expect(JSON.stringify(agent.model.doGenerateCalls[0])).not.toContain('secret')
  expect(agent.results(1)[0]).toMatch(/^Error: /)
  await agent.ask('/secret now')
  expect(agent.prompted(2)).toContain('<skill_content name="secret">')
})

it('refuses a skill with user-invocable: false to the user, but not to the model', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/inner', { more: 'user-invocable: false' })
  const agent = withAgent(place, [call('skill', { name: 'inner' }), says('ok')])
  await expect(agent.ask('/inner x')).rejects.toThrow(SkillInvocationError)
  await agent.ask('go')
  expect(agent.results(1)[0]).toContain('<skill_content name="inner">')
})

it('passes the rest of a typed prompt as the arguments of the skill', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/fix', { body: 'Fix: $ARGUMENTS' })
  const agent = withAgent(place, [says('ok'), says('ok')])
  await agent.ask('/fix the bug\nin $1 now')
  expect(agent.prompted(0)).toContain('Fix: the bug\nin $1 now')
  await agent.ask('/etc/fix is a path')
  expect(agent.prompted(1)).toBe('/etc/fix is a path')
})

it('adds content once while it is in the conversation, and again with other arguments', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/fix', { body: 'Fix: $ARGUMENTS' })
  const agent = withAgent(place, [
    call('skill', { name: 'fix', arguments: 'a' }, 'one'),
    call('skill', { name: 'fix', arguments: 'a' }, 'two'),
    says('ok'),
    call('skill', { name: 'fix', arguments: 'a' }, 'three'),
    call('skill', { name: 'fix', arguments: 'b' }, 'four'),
    says('ok'),
  ])
  await agent.ask('go')
  await agent.ask('again')
  const [first, second, third, fourth] = agent.results(5)
  expect(first).toContain('Fix: a')
  expect(second).toContain('already active')
  expect(third).toContain('already active')
  expect(fourth).toContain('Fix: b')
})

it('offers the tools of a skill exactly while it is active', async () => {
  const skill = defineSkill({ name: 'mail', description: 'Sends mail.', body: 'Use mail.send.' })
  const agent = withAgent(
    emptyFixture(),
    [
      call('skill', { name: 'mail' }),
      call('mail__send', { to: 'x' }),
      call('skill', { name: 'mail', done: true }),
      call('mail__send', { to: 'x' }, 'late'),
      says('ok'),
      says('ok'),
    ],
    { skills: [skill], tools: [echoTool()] },
  )
  const sent: unknown[] = []
  agent.agent.skillManager.registerTool('mail', {
    name: 'send',
    inputSchema: { properties: { to: { type: 'string' } } },
    execute: (input) => {
      sent.push(input)
      return { ok: true }
    },
  })
  await agent.ask('go')
  expect(agent.seen(0)).toEqual(['echo', 'skill'])
  expect(agent.seen(1)).toEqual(['echo', 'skill', 'mail__send'])
  expect(agent.seen(3)).toEqual(agent.seen(0))
  expect(agent.results(4)[1]).toBe('{"ok":true}')
  expect(agent.results(4)[3]).toMatch(/^Error: there is no tool called mail__send/)
  expect(sent).toEqual([{ to: 'x' }])
  await agent.ask('more')
  expect(agent.seen(5)).toEqual(agent.seen(0))
})

it('approves what a skill allows exactly while it is active', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/notes', { more: 'allowed-tools: Bash(touch:*)' })
  const touch = (file: string): Reply => call('shell', { command: `touch ${file}` }, file)
  const agent = withAgent(
    place,
    [
      touch('before'),
      call('skill', { name: 'notes' }),
      touch('during'),
      call('shell', { command: 'rm during' }, 'other'),
      call('skill', { name: 'notes', done: true }),
      touch('after'),
      call('skill', { name: 'notes' }, 'again'),
      says('ok'),
      touch('later'),
      says('ok'),
    ],
    { builtIns: ['shell'] },
  )
  await agent.ask('go')
  await agent.ask('more')
  const allowed = ['before', 'during', 'after', 'later'].filter((file) =>
    existsSync(join(place.project, file)),
  )
  expect(allowed).toEqual(['during'])
  const refused = agent.results(9).filter((text) => text.startsWith('Error: shell was refused'))
  expect(refused).toHaveLength(4)
})

it('keeps the content of a skill whole and once in a shortened conversation', async () => {
  const body = Array.from({ length: 200 }, (_, line) => `Rule ${line} of the skill.`).join('\n')
  const place = emptyFixture()
  place.skill('project/.claude/skills/rules', { body })
  const long = echoTool('read', { execute: async () => 'x'.repeat(8000) })
  const reads = Array.from({ length: 12 }, (_, index) => call('read', { index }, `read-${index}`))
  const agent = withAgent(
    place,
    [call('read', {}, 'first'), call('skill', { name: 'rules' }), ...reads, says('ok')],
    { tools: [long], limits: { budget: 9000 } },
  )
  await agent.ask('Read all.')
  const last = JSON.stringify(agent.model.doGenerateCalls.at(-1)?.prompt)
  expect(last.length).toBeLessThan(40_000)
  expect(last.split('<skill_content name=\\"rules\\">')).toHaveLength(2)
  expect(agent.results(13).filter((text) => text.includes(body))).toHaveLength(1)
})

it('refuses a skill whose tool has the name of another one, before it is active', async () => {
  const skill = defineSkill({ name: 'mail', description: 'Sends mail.', body: 'Use mail.send.' })
  const agent = withAgent(emptyFixture(), [call('skill', { name: 'mail' }), says('ok')], {
    skills: [skill],
    tools: [echoTool('mail__send')],
  })
  agent.agent.skillManager.registerTool('mail', { name: 'send', execute: () => 1 })
  const { status } = await agent.ask('go')
  expect(status).toBe('completed')
  expect(agent.results(1)[0]).toMatch(/^Error: Two tools would be called mail__send/)
  expect(agent.agent.skillManager.activeSkills).toEqual([])
})

it('reads references and other files only inside an active skill', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/docs')
  place.write({
    'project/.claude/skills/docs/references/a.md': 'the reference',
    'project/secret.md': 'the secret',
  })
  const agent = withAgent(place, [
    call('skill', { name: 'docs' }),
    calls([
      { name: 'skill_resource', input: { skill: 'docs' }, id: '1' },
      { name: 'skill_resource', input: { skill: 'docs', path: 'references/a.md' }, id: '2' },
      { name: 'skill_resource', input: { skill: 'docs', path: '../../../secret.md' }, id: '3' },
    ]),
    says('ok'),
  ])
  await agent.ask('go')
  expect(agent.seen(0)).toEqual(['skill'])
  expect(agent.seen(1)).toEqual(['skill', 'skill_resource'])
  const [, list, text, outside] = agent.results(2)
  expect(list).toContain('references/a.md (13 bytes)')
  expect(text).toBe('the reference')
  expect(outside).toMatch(/^Error: Resource .* leads out of/)
})

it('reports a catalogue beyond its budget, which can be searched', async () => {
  const place = emptyFixture()
  for (let number = 0; number < 120; number++) {
    place.skill(`project/.claude/skills/skill-${number}`, {
      description: `Does thing number ${number} and nothing else at all in the world.`,
    })
  }
  place.skill('project/.claude/skills/zebra-painter', {
    description: 'Paints stripes on horses.',
  })
  const agent = withAgent(place, [
    call('search_skills', { query: 'painting a horse with stripes' }),
    call('skill', { name: 'zebra-painter' }),
    says('ok'),
  ])
  await agent.ask('go')
  expect(agent.seen(0)).toEqual(['skill', 'search_skills'])
  const system = JSON.stringify(agent.model.doGenerateCalls[0]?.prompt)
  expect(system).toContain('skills are not listed')
  expect(system.length / 4).toBeLessThan(2400)
  expect(agent.results(1)[0]).toMatch(/^zebra-painter: Paints/)
  expect(agent.results(2)[1]).toContain('<skill_content name="zebra-painter">')
})

it('puts references of trusted skills before the prompt, once', async () => {
  const place = emptyFixture()
  const triggers = 'triggers:\n  - match: deploy\n    inject: references/deploy.md'
  place.skill('project/.claude/skills/ship', { more: triggers })
  place.write({ 'project/.claude/skills/ship/references/deploy.md': 'Deploy on Fridays only.' })
  const agent = withAgent(place, [says('ok'), says('ok'), says('ok')])
  await agent.ask('please deploy')
  expect(agent.prompted(0)).toBe(
    '<!-- injected: references/deploy.md -->\nDeploy on Fridays only.\n\nplease deploy',
  )
  await agent.ask('deploy again')
  expect(agent.prompted(1)).toBe('deploy again')
  const untrusted = withAgent(place, [says('ok')], { workspaceTrust: 'ask' })
  await untrusted.ask('please deploy')
  expect(untrusted.prompted(0)).toBe('please deploy')
})

it('uses the model of a skill while the skill is active', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/deep', { more: 'model: mine:big' })
  place.skill('project/.claude/skills/lost', { more: 'model: nowhere:at-all' })
  const big = scripted([call('skill', { name: 'deep', done: true })], 'big')
  const agent = withAgent(
    place,
    [call('skill', { name: 'lost' }, 'lost'), call('skill', { name: 'deep' }), says('from small')],
    { providers: { mine: { languageModel: () => big } } },
  )
  const { text } = await agent.ask('go')
  expect(text).toBe('from small')
  expect(big.doGenerateCalls).toHaveLength(1)
  expect(agent.notices().join()).toMatch(/Skill lost wants the model nowhere:at-all/)
})

it('lets an untrusted skill narrow the tools, and approve nothing, run no hooks and choose no model', async () => {
  const place = emptyFixture()
  place.skill('more/odd', {
    more: [
      'allowed-tools: Read echo',
      'model: mine:big',
      'context: fork',
      'hooks:',
      '  PreToolUse:',
      '    - hooks: [{ type: command, command: touch hooked }]',
    ].join('\n'),
  })
  const agent = withAgent(
    place,
    [
      call('skill', { name: 'odd' }),
      calls([
        { name: 'echo', id: '1' },
        { name: 'other', id: '2' },
        { name: 'skill', input: { name: 'odd', done: true }, id: '3' },
      ]),
      says('ok'),
      says('ok'),
    ],
    {
      skillDirs: [join(place.root, 'more')],
      discover: false,
      tools: [echoTool(), echoTool('other')],
      builtIns: ['read', 'write'],
    },
  )
  await agent.ask('go')
  expect(agent.seen(0)).toEqual(['echo', 'other', 'read', 'write', 'skill'])
  expect(agent.seen(1)).toEqual(['echo', 'read', 'skill'])
  const [content, echo, other, done] = agent.results(2)
  expect(content).toContain('<skill_content')
  expect(echo).toContain('echo said')
  expect(other).toMatch(/^Error: there is no tool called other/)
  expect(done).toContain('limits the tools until the turn of the user ends')
  expect(agent.notices().join()).toContain('untrusted')
  await agent.ask('more')
  expect(agent.seen(3)).toEqual(agent.seen(0))
})

it('runs a skill that forks in a subagent and leaves nothing active', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/research', {
    more: 'context: fork\nallowed-tools: echo',
    body: 'Find out about $ARGUMENTS.',
  })
  const agent = withAgent(
    place,
    [
      call('skill', { name: 'research', arguments: 'moss' }),
      call('echo', { q: 'moss' }),
      says('moss is green'),
      says('it is green'),
    ],
    { tools: [echoTool()] },
  )
  const { text } = await agent.ask('what is moss?')
  expect(text).toBe('it is green')
  expect(JSON.stringify(agent.model.doGenerateCalls[0]?.prompt)).toContain('(runs in a subagent)')
  expect(agent.prompted(1)).toContain('Find out about moss.')
  expect(JSON.stringify(agent.model.doGenerateCalls[1]?.prompt)).not.toContain('what is moss?')
  expect(agent.results(3)[0]).toContain('moss is green')
  expect(agent.agent.skillManager.activeSkills).toEqual([])
})

it('runs a script of an untrusted skill in the sandbox, or says how to allow it', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/tool')
  const script = '#!/bin/sh\ntouch ran; ls; echo "home: $HOME"'
  place.executable('project/.claude/skills/tool/scripts/go.sh', script)
  const agent = withAgent(place, [call('skill', { name: 'tool' }), call('tool__go'), says('ok')], {
    approver: async () => ({ approved: true }),
    workspaceTrust: 'ask',
  })
  await agent.ask('go')
  const [, result] = agent.results(2)
  expect(result).toMatch(
    /^\{"status":"success".*ran\\n|^Error: .*tool.*may not run scripts\/go\.sh.*skillrail trust/s,
  )
  expect(result).not.toContain(agent.home)
  expect(existsSync(join(agent.project, 'ran'))).toBe(false)
})
