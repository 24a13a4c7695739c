import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { MockLanguageModelV4 } from 'ai/test'
import { Agent, type AgentResult } from '../../src/agent/agent.ts'
import type { AgentEvent } from '../../src/agent/types.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { type Fixture, fixture } from '../library/_fixture.ts'
import { type Reply, scripted } from './mock-replies.ts'

/** A real project with an agent whose model follows a script. */
export interface AgentFixture extends Fixture {
  agent: Agent
  model: MockLanguageModelV4
  events: AgentEvent[]
  /** Notices, in order. */
  notices: () => string[]
  ask: (prompt: string) => Promise<AgentResult>
  /** Names of the tools that the model saw at a step, from 0. */
  seen: (step: number) => string[]
  /** What the model read of tool results up to a step, in order. */
  results: (step: number) => string[]
  /** The last message of the user that the model saw at a step. */
  prompted: (step: number) => string
  executable: (path: string, text: string) => void
}

export function emptyFixture(): Fixture & Pick<AgentFixture, 'executable'> {
  const place = fixture({ env: { PATH: process.env['PATH'] } })
  return {
    ...place,
    executable(path, text) {
      place.write({ [path]: text })
      chmodSync(join(place.root, path), 0o755)
    },
  }
}

export function withAgent(
  place: Fixture & Pick<AgentFixture, 'executable'>,
  replies: readonly (Reply | Error)[],
  options: Partial<AgentOptions> = {},
): AgentFixture {
  const model = scripted(replies)
  const events: AgentEvent[] = []
  const agent = new Agent({
    model,
    runtime: place.runtime,
    skills: [],
    workspaceTrust: 'trusted',
    ...options,
    onEvent: (event) => events.push(event),
  })
  const promptAt = (step: number): (typeof model.doGenerateCalls)[number]['prompt'] =>
    model.doGenerateCalls[step]?.prompt ?? []
  return {
    ...place,
    agent,
    model,
    events,
    notices: () => events.flatMap((event) => (event.type === 'notice' ? [event.message] : [])),
    ask: (prompt) => agent.generate(prompt),
    seen: (step) => (model.doGenerateCalls[step]?.tools ?? []).map((tool) => tool.name),
    results: (step) =>
      promptAt(step).flatMap((message) =>
        message.role === 'tool'
          ? message.content.flatMap((part) =>
              part.type === 'tool-result' &&
              (part.output.type === 'text' || part.output.type === 'error-text')
                ? [part.output.value]
                : [],
            )
          : [],
      ),
    prompted(step) {
      const message = promptAt(step).findLast(({ role }) => role === 'user')
      if (message?.role !== 'user') return ''
      return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    },
  }
}
