import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import type { ProposedCall } from '../../../src/tools/call/consent.ts'
import { doRequest, type ToolModel } from '../../../src/tools/call/do-request.ts'
import type { ToolDefinition } from '../../../src/tools/model.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import { definitionOf, type FakeTool, toolFixture } from '../call/_fake.ts'
import { listedTools } from './_servers.ts'

interface ListedTool extends FakeTool {
  server: string
}

interface Call {
  tool: string
  params: JsonObject
}

/** A request with the call that it means; without a tool only a question is right. */
interface MeantRequest {
  /** Rules are tried on one part; the other one only measures. */
  part: 'tried' | 'held-out'
  request: string
  tool: string | null
  params?: JsonObject
  /** Calls that are right too. */
  also?: readonly Call[]
}

type Part = MeantRequest['part']

export const meantRequests = linesOf<MeantRequest>('calls.jsonl')

const serversOf: Record<Part, readonly string[]> = {
  tried: [
    'browser',
    'sentry',
    'github',
    'filesystem',
    'memory',
    'git',
    'time',
    'context7',
    'everything',
    'slack',
  ],
  'held-out': [
    'desktop',
    'playwright',
    'tavily',
    'graphql',
    'linear',
    'trello',
    'kubernetes',
    'airtable',
    'gitlab',
    'redis',
    'weather',
    'wikipedia',
    'maps',
    'fetch',
  ],
}

const partTools = new Map<Part, readonly ListedTool[]>()

const allTools: readonly ListedTool[] = [...linesOf<ListedTool>('more-tools.jsonl'), ...listedTools]

export function toolsOfPart(part: Part): readonly ListedTool[] {
  const cached = partTools.get(part)
  const tools = cached ?? allTools.filter(({ server }) => serversOf[part].includes(server))
  partTools.set(part, tools)
  return tools
}

interface Outcome {
  /** Calls that were made with `--yes` and without a question. */
  made: readonly Call[]
  /** The last call of the plan that a user was asked about. */
  asked: ProposedCall | undefined
}

/** The outcome of one request with `--yes`, first in a shell without a user, then beside a user who says no. */
export async function outcomeOf(
  request: string,
  tools: readonly FakeTool[],
  model?: ToolModel,
): Promise<Outcome> {
  const { context, calls } = fixtureOf(tools)
  calls.length = 0
  const router = routerOf(tools, context.index.tools)
  let asked: ProposedCall | undefined
  const setup = { context, router: async () => router, yes: true, model }
  const user = {
    confirm: async (plan: readonly ProposedCall[]) => {
      asked = plan.at(-1)
      return false
    },
    choose: async () => undefined,
    provide: async () => undefined,
  }
  await doRequest(request, setup).catch(rethrowUnknown)
  const made = calls.map(callOf)
  if (made.length === 0) await doRequest(request, { ...setup, user }).catch(rethrowUnknown)
  return { made, asked }
}

function rethrowUnknown(error: unknown): undefined {
  if (error instanceof Error && 'code' in error) return undefined
  throw error
}

const fixtures = new WeakMap<object, ReturnType<typeof toolFixture>>()

function fixtureOf(tools: readonly FakeTool[]) {
  const cached = fixtures.get(tools)
  if (cached) return cached
  const fixture = toolFixture(tools)
  fixtures.set(tools, fixture)
  return fixture
}

const routers = new WeakMap<object, ReturnType<typeof prepareRouter>['route']>()

function routerOf(tools: object, index: Parameters<typeof prepareRouter>[0]) {
  const cached = routers.get(tools)
  if (cached) return cached
  const { route } = prepareRouter(index)
  routers.set(tools, route)
  return route
}

function callOf(line: string): Call {
  const [tool = '', ...rest] = line.split(' ')
  return { tool, params: JSON.parse(rest.join(' ')) }
}

/** Whether a call is the meant one. */
export function isMeant({ tool, params = {}, also = [] }: MeantRequest, call: Call): boolean {
  const right = tool === null ? also : [{ tool, params }, ...also]
  return right.some((one) => one.tool === call.tool && isDeepStrictEqual(one.params, call.params))
}

/** A model that always chooses this call, if its tool is offered. */
export function modelThatCalls(call: Call | undefined): ToolModel {
  return {
    name: 'mock:scripted',
    choose: async (_, offered: readonly ToolDefinition[]) =>
      call && offered.some(({ id }) => id === call.tool) ? call : undefined,
  }
}

/** Calls that lack one value each. */
export function dropped(call: Call): Call[] {
  return Object.keys(call.params).map((name) => ({
    ...call,
    params: Object.fromEntries(Object.entries(call.params).filter(([key]) => key !== name)),
  }))
}

/** Calls with two values of one type in each other's place. */
export function swapped(call: Call): Call[] {
  const entries = Object.entries(call.params)
  return entries.flatMap(([one, left], at) =>
    entries
      .slice(at + 1)
      .filter(([, right]) => kindOf(left) === kindOf(right) && !isDeepStrictEqual(left, right))
      .map(([other, right]) => ({
        ...call,
        params: { ...call.params, [one]: right, [other]: left },
      })),
  )
}

function kindOf(value: JsonValue): string {
  return Array.isArray(value) ? 'list' : typeof value
}

/** Calls with one value that nobody said. */
export function invented(call: Call, tools: readonly FakeTool[]): Call[] {
  const tool = tools.map(definitionOf).find(({ id }) => id === call.tool)
  const properties = Object(tool?.inputSchema['properties'])
  const replaced = Object.entries(call.params).flatMap(([name, value]) => {
    const other = otherValue(value)
    return other === undefined ? [] : [{ ...call, params: { ...call.params, [name]: other } }]
  })
  const added = Object.keys(properties)
    .filter((name) => !Object.hasOwn(call.params, name))
    .slice(0, 3)
    .flatMap((name) => {
      const value = inventedFor(properties[name])
      return value === undefined ? [] : [{ ...call, params: { ...call.params, [name]: value } }]
    })
  return [...replaced, ...added]
}

function otherValue(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return 'zebra'
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return ['zebra']
  return undefined
}

function inventedFor(schema: {
  type?: string
  enum?: JsonValue[]
  default?: JsonValue
}): JsonValue | undefined {
  if (schema.enum) return schema.enum.find((choice) => choice !== schema.default)
  if (schema.type === 'string') return 'zebra'
  if (schema.type === 'boolean') return true
  if (schema.type === 'number' || schema.type === 'integer') return 17
  return undefined
}

function linesOf<T>(file: string): T[] {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line))
}

/** Whether a tool is known to read only. */
export function readsOnly(id: string, tools: readonly FakeTool[]): boolean {
  const { context } = fixtureOf(tools)
  return context.index.tools.find((tool) => tool.id === id)?.readOnly === true
}
