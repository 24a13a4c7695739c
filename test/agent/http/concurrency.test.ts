import { getEventListeners } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { expect, it } from 'vitest'
import { Agent } from '../../../src/agent/agent.ts'
import type { SubagentResult } from '../../../src/agent/subagents/delegation.ts'
import { tool } from '../../../src/agent/tool.ts'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { readRequest, toolResults } from '../../model-server/read-request.ts'
import { startModelServer } from '../../model-server/server.ts'
import type { ModelTurn } from '../../model-server/turn.ts'

const total = 50
const cancelled = 10
const failing = 5

/** Of those that are cancelled, so many wait for the model; a command runs in the others. */
const silent = 5

/** The first ten are cancelled after their first step, the next five fail then. */
const fateOf = (number: number): 'cancelled' | 'failed' | 'completed' => {
  if (number < cancelled) return 'cancelled'
  return number < cancelled + failing ? 'failed' : 'completed'
}

/** Answers that the model gives to each. */
const answersTo = (number: number): number =>
  fateOf(number) === 'completed' || (number >= silent && number < cancelled) ? 2 : 1

it('returns a result for each of 50 concurrent delegations and counts the tokens that the server counted', async () => {
  const before = resources()
  let waiting = 0
  const server = await startModelServer((request): ModelTurn => {
    const number = Number(/Task (\d+)/.exec(readRequest(request).messages[0]?.text ?? '')?.[1])
    // Every call costs something else, so that a wrong booking cannot add up by accident.
    const usage = { input: 1000 + number * 7, output: 10 + number, cached: number, reasoning: 1 }
    if (toolResults(request).length === 0) {
      return { calls: [{ name: 'look', input: { number } }], usage }
    }
    const fate = fateOf(number)
    if (fate === 'cancelled' && number >= silent) {
      const command = `echo $$ > ${number}.pid.new; mv ${number}.pid.new ${number}.pid; sleep 600`
      return { calls: [{ name: 'shell', input: { command } }], usage }
    }
    if (fate === 'cancelled') {
      waiting++
      return { silent: true }
    }
    if (fate === 'failed') return { error: { status: 400, message: `No answer to ${number}.` } }
    return { text: `Done ${number}.`, usage, delayMs: number % 5 }
  })
  const model = createOpenAICompatible({
    name: 'local',
    baseURL: `${server.url}/v1`,
    includeUsage: true,
  })('m')
  const look = tool({
    name: 'look',
    description: 'Looks at a number.',
    readOnly: true,
    input: { type: 'object', properties: { number: { type: 'number' } } },
    execute: ({ number = null }) => `saw ${JSON.stringify(number)}`,
  })
  const project = mkdtempSync(join(tmpdir(), 'skillrail-concurrency-'))
  const agent = new Agent({
    model,
    runtime: systemRuntime({ env: { PATH: process.env['PATH'] }, cwd: project, home: project }),
    discover: false,
    tools: [look],
    builtIns: ['shell'],
    approver: async () => ({ approved: true }),
    concurrency: total,
    subagents: [{ name: 'worker', description: 'Works.', tools: ['look', 'shell'] }],
  })
  const controller = new AbortController()
  const numbers = Array.from({ length: total }, (_, number) => number)
  const handles = await Promise.all(
    numbers.map((number) =>
      agent.delegateAsync('worker', `Task ${number}`, {
        signal: controller.signal,
        stream: number % 2 === 0,
      }),
    ),
  )
  expect(agent.subagentManager.getActiveDelegations()).toHaveLength(total)
  await until(() => waiting === silent && pidsIn(project).length === cancelled - silent)
  const commands = pidsIn(project)
  expect(commands.every(isAlive)).toBe(true)
  for (const handle of handles.slice(0, cancelled)) handle.cancel()
  const results = await Promise.all(handles.map((handle) => handle.result()))

  expect(results.map(({ status }) => status)).toEqual(numbers.map(fateOf))
  expect(results.map(({ task }) => task)).toEqual(numbers.map((number) => `Task ${number}`))
  for (const [number, { output, error, usage, success }] of results.entries()) {
    const calls = answersTo(number)
    const isDone = fateOf(number) === 'completed'
    expect(success).toBe(isDone)
    expect(usage).toMatchObject({
      inputTokens: calls * (1000 + number * 7),
      outputTokens: calls * (10 + number),
      cachedInputTokens: calls * number,
    })
    expect(output).toBe(isDone ? `Done ${number}.` : '')
    expect(error ?? '').toMatch(isDone ? /^$/ : /cancelled|No answer to/)
  }
  const counted = server.counted()
  const { total: booked, own, descendants, byDelegation } = agent.usage
  expect(booked).toMatchObject({
    inputTokens: counted.input,
    outputTokens: counted.output,
    cachedInputTokens: counted.cached,
    reasoningTokens: counted.reasoning,
    requests: counted.answers,
  })
  expect(own.requests).toBe(0)
  expect(descendants).toEqual(booked)
  expect(Object.keys(byDelegation)).toHaveLength(total)
  expect(agent.subagentManager.getUsageBreakdown()).toEqual({ worker: booked })
  expect(agent.subagentManager.getActiveDelegations()).toEqual([])

  await agent.close()
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  await server.close()
  await until(() => leftSince(before).length === 0)
  expect(leftSince(before)).toEqual([])
  await until(() => !commands.some(isAlive))
  expect(commands.filter(isAlive)).toEqual([])
  rmSync(project, { recursive: true, force: true })
  console.log(
    [
      `${total} delegations at once: ${statuses(results)}`,
      `server: ${counted.answers} answers, ${counted.input} + ${counted.output} tokens`,
      `agent:  ${booked.requests} answers, ${booked.inputTokens} + ${booked.outputTokens} tokens`,
      'left: no process, timer, socket or listener',
    ].join('\n'),
  )
})

function statuses(results: readonly SubagentResult[]): string {
  const counts = new Map<string, number>()
  for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ')
}

/** The shells that have said that they run. */
function pidsIn(directory: string): number[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.pid'))
    .map((name) => Number(readFileSync(join(directory, name), 'utf8')))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Processes, timers, sockets and whatever else would keep this process alive, and its listeners. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) {
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  const listeners = process.eventNames().map((name) => process.listenerCount(name))
  return { ...counts, listeners: listeners.reduce((sum, count) => sum + count, 0) }
}

/** What there is more of now. */
function leftSince(before: Record<string, number>): string[] {
  return Object.entries(resources()).flatMap(([kind, count]) =>
    count > (before[kind] ?? 0) ? [kind] : [],
  )
}

/** Without a timer, which would be counted. What did not come about is seen by what is expected next. */
async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 50_000
  while (!condition() && performance.now() < end) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}
