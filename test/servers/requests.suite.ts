import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { postgresPrograms } from './postgres.ts'
import { routedRequests } from './requests.ts'
import { addRow } from './rows.ts'
import { useWorld } from './world.ts'

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
  }
})
