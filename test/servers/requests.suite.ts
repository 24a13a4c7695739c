import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { postgresPrograms } from './postgres.ts'
import { routedRequests } from './requests.ts'
import { addRow } from './rows.ts'
import { useWorld } from './world.ts'

/** Some of every server, each of which is then taught the tool of another. */
const learnedRequests = routedRequests.filter((_, at) => at % 6 === 0)
const hasDatabase = postgresPrograms() !== undefined

describe('requests in words, over the tools of all servers', () => {
  const world = useWorld([
    'everything',
    'filesystem',
    'memory',
    'sequential-thinking',
    'chrome-devtools',
    'playwright',
    'database',
    'github',
    'graphql',
    'context7',
  ])

  for (const { request, tool, params, missing = [] } of routedRequests) {
    const isKnown = hasDatabase || !tool.startsWith('database__')
    it.skipIf(!isKnown)(`${request} → ${tool}`, async () => {
      const { answer } = await world().project.json(['tools', 'route', request])
      const expected = { tool, params, missing }
      const found = { tool: answer.tool, params: answer.params, missing: answer.missing ?? [] }
      const parameters = JSON.stringify(answer.params)
      const ok = isDeepStrictEqual(found, expected)
      addRow({
        table: 'requests',
        request,
        tool: answer.tool,
        parameters,
        decision: answer.decision,
        ok,
      })
      expect(found).toEqual(expected)
    })

    it.skipIf(!isKnown)(`${request}: carried out as it is routed`, async () => {
      expect(await carriedOut(request)).toEqual(await routed(request))
    })
  }

  it('are carried out as they are routed, after other tools were learned for them too', async () => {
    const { project } = world()
    for (const [at, { request }] of learnedRequests.entries()) {
      const { tool } = learnedRequests[(at + 1) % learnedRequests.length] ?? { tool: '' }
      expect(await project.cli(['tools', 'learn', 'add', request, tool])).toMatchObject({ code: 0 })
    }
    for (const { request } of learnedRequests) {
      expect([request, await carriedOut(request)]).toEqual([request, await routed(request)])
    }
  })

  /** The tool that `tools route` is sure of. */
  async function routed(request: string): Promise<string | undefined> {
    const { answer } = await world().project.json(['tools', 'route', request])
    return answer.decision === 'answer' ? answer.tool : undefined
  }

  /** The tool that `tools do` would call for it; undefined where it would ask. */
  async function carriedOut(request: string): Promise<string | undefined> {
    const { answer } = await world().project.json(['tools', 'do', request, '--dry-run'])
    return answer.steps?.at(-1)?.tool
  }
})
