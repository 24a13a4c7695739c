import type { JsonObject } from '../../../src/core/json.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { doRequest, type RequestAnswer } from '../../../src/tools/call/do-request.ts'
import type { ToolModel } from '../../../src/tools/call/do-request.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import { type FakeTool, toolFixture } from '../call/_fake.ts'

interface ListedTool extends FakeTool {
  server: string
}

export interface EverydayRequest {
  set: 'everyday' | 'traps'
  server: string
  request: string
  tool: string
  params: JsonObject
}

/** Tools as real servers of the registry list them, one a line. */
export const listedTools: readonly ListedTool[] = linesOf<ListedTool>('tools.jsonl')
/** What people ask of them, with the call that it means. */
export const requests: readonly EverydayRequest[] = linesOf<EverydayRequest>('requests.jsonl')

/** The result of a request in a non-interactive shell, with an approval in advance. */
export async function carryOut(
  request: string,
  tools: readonly FakeTool[],
  model?: ToolModel,
): Promise<{ answer: RequestAnswer | undefined; calls: readonly string[] }> {
  const { fixture, route } = prepared.get(tools) ?? prepare(tools)
  const { context, calls } = fixture
  calls.length = 0
  const setup = { context, router: async () => route, yes: true, model }
  try {
    return { answer: await doRequest(request, setup), calls: [...calls] }
  } catch (error) {
    if (calls.length > 0 || !(error instanceof Error && 'code' in error)) throw error
    return { answer: undefined, calls: [] }
  }
}

type Prepared = ReturnType<typeof prepare>

/** To index the tools for each request again would be most of the work. */
const prepared = new WeakMap<readonly FakeTool[], Prepared>()

function prepare(tools: readonly FakeTool[]) {
  const fixture = toolFixture(tools)
  const { route } = prepareRouter(fixture.context.index.tools)
  const made = { fixture, route }
  prepared.set(tools, made)
  return made
}

function linesOf<T>(file: string): T[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line))
}
