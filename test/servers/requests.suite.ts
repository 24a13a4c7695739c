import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { postgresPrograms } from './postgres.ts'
import { routedRequests } from './requests.ts'
import { addRow } from './rows.ts'
import { useFixture } from './fixture.ts'

const hasDatabase = postgresPrograms() !== undefined

describe('requests in words, over the tools of all servers', () => {
  const fixture = useFixture([
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
      const { answer } = await fixture().project.json(['tools', 'route', request])
      const expected = { tool, params, missing }
      const result = { tool: answer.tool, params: answer.params, missing: answer.missing ?? [] }
      const parameters = JSON.stringify(answer.params)
      const ok = isDeepStrictEqual(result, expected)
      addRow({
        table: 'requests',
        request,
        tool: answer.tool,
        parameters,
        decision: answer.decision,
        ok,
      })
      expect(result).toEqual(expected)
    })

    it.skipIf(!isKnown)(`${request}: carried out as it is routed`, async () => {
      expect(await carriedOut(request)).toEqual(await routed(request))
    })
  }

  /** The tool that `tools route` is sure of. */
  async function routed(request: string): Promise<string | undefined> {
    const { answer } = await fixture().project.json(['tools', 'route', request])
    return answer.decision === 'answer' ? answer.tool : undefined
  }

  /** The tool that `tools do` would call for it; undefined if it would ask. */
  async function carriedOut(request: string): Promise<string | undefined> {
    const { answer } = await fixture().project.json(['tools', 'do', request, '--dry-run'])
    return answer.steps?.at(-1)?.tool
  }
})
