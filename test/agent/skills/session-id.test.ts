import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { conversationFiles } from '../../../src/agent/conversation/store.ts'
import { emptyFixture, withAgent } from '../_agent-fixture.ts'
import { call, says } from '../mock-replies.ts'

const body = 'Session <${CLAUDE_SESSION_ID}>.'

function sessionIn(text: string | undefined): string | undefined {
  return /Session <([^<>]*)>/.exec(text ?? '')?.[1]
}

it('passes the same session ID to skills of the model, the user, the program and the start', async () => {
  const place = emptyFixture()
  for (const name of ['one', 'two', 'three', 'four']) {
    place.skill(`project/.claude/skills/${name}`, { body })
  }
  const replies = [call('skill', { name: 'one' }), says('ok'), says('ok')]
  const agent = withAgent(place, replies, { startSkills: ['four'] })
  const ofProgram = sessionIn(await agent.agent.invokeSkill('three'))
  await agent.ask('go')
  const ofStart = sessionIn(agent.prompted(0))
  const ofModel = sessionIn(agent.results(1)[0])
  await agent.ask('/two')
  const ofUser = sessionIn(agent.prompted(2))
  expect(ofProgram).toMatch(/^[\w-]+$/)
  expect([ofStart, ofModel, ofUser]).toEqual([ofProgram, ofProgram, ofProgram])
})

it('gives two agents two session IDs', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/one', { body })
  const ids = await Promise.all(
    [1, 2].map(async () => sessionIn(await withAgent(place, []).agent.invokeSkill('one'))),
  )
  expect(new Set(ids).size).toBe(2)
})

it('uses the ID of a stored conversation, also before its first run and in another process', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/one', { body })
  const directory = join(place.root, 'conversations')
  const store = conversationFiles({ directory, runtime: place.runtime })
  const first = withAgent(place, [says('ok')], { store })
  const early = sessionIn(await first.agent.invokeSkill('one'))
  await first.ask('/one')
  expect(first.agent.conversation).toBe(early)
  const second = withAgent(place, [says('ok')], { store, conversation: 'latest' })
  expect(await second.agent.invokeSkill('one')).toContain('${CLAUDE_SESSION_ID}')
  await second.ask('/one and again')
  expect(sessionIn(second.prompted(0))).toBe(early)
})

it('passes the session ID of the parent to subagents, in preloaded skills and forks', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/one', { body })
  place.skill('project/.claude/skills/forked', { body, more: 'context: fork' })
  const agent = withAgent(place, [says('ok'), says('ok')], {
    subagents: [{ name: 'worker', description: 'Works.', skills: ['one'] }],
  })
  const id = sessionIn(await agent.agent.invokeSkill('one'))
  await agent.agent.delegate('worker', 'Go.')
  await agent.agent.invokeSkill('forked')
  const asked = agent.model.doGenerateCalls.map(({ prompt }) => sessionIn(JSON.stringify(prompt)))
  expect(asked).toEqual([id, id])
})

it('passes the same session ID to hooks of a skill', async () => {
  const place = emptyFixture()
  const seen = join(place.root, 'seen.json')
  place.executable('hook.sh', `#!/bin/sh\ncat > ${seen}\n`)
  const command = join(place.root, 'hook.sh')
  const more = `hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ${command}`
  place.skill('project/.claude/skills/one', { body, more })
  const agent = withAgent(place, [says('ok')])
  await agent.ask('/one')
  expect(existsSync(seen)).toBe(true)
  expect(JSON.parse(readFileSync(seen, 'utf8'))).toMatchObject({
    session_id: sessionIn(agent.prompted(0)),
  })
})
