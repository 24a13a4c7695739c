import { describe, expect, it } from 'vitest'
import {
  dropped,
  invented,
  isMeant,
  meantRequests,
  modelThatCalls,
  outcomeOf,
  readsOnly,
  swapped,
  toolsOfPart,
} from './_measure.ts'

const badCalls = { dropped, swapped, invented }

/**
 * Requests of people over the schemas of real servers. Rules are tried on one part; the other part has other servers
 * and only measures.
 */
describe.each(['tried', 'held-out'] as const)(
  'requests with the call that they mean: %s',
  (part) => {
    const tools = toolsOfPart(part)
    const rows = meantRequests.filter((row) => row.part === part)
    const meant = rows.flatMap((row) =>
      row.tool === null || !row.params
        ? []
        : [{ row, call: { tool: row.tool, params: row.params } }],
    )

    // The other tools are of no importance once the model has chosen.
    const alone = new Map(tools.map((tool) => [`${tool.server}__${tool.name}`, [tool]]))
    const toolAlone = (id: string) => alone.get(id) ?? []

    it('lead without a model to the right call or to a question', async () => {
      const wrong: string[] = []
      let right = 0
      for (const row of rows) {
        const { made } = await outcomeOf(row.request, tools)
        const isRight = made.some((call) => isMeant(row, call))
        if (isRight) right++
        else if (made.length > 0) wrong.push(`${row.request} → ${JSON.stringify(made)}`)
      }
      expect(wrong).toEqual([])
      expect(right / meant.length).toBeGreaterThan(0.15)
    })

    it('lead to the right call with a model that answers well', async () => {
      const missed: string[] = []
      for (const { row, call } of meant) {
        const { made, asked } = await outcomeOf(row.request, tools, modelThatCalls(call))
        const calls = asked ? [{ tool: asked.tool.id, params: asked.params }] : made
        if (!calls.some((one) => isMeant(row, one))) missed.push(row.request)
      }
      expect(1 - missed.length / meant.length).toBeGreaterThanOrEqual(0.85)
    })

    it.each(['dropped', 'swapped', 'invented'] as const)(
      'change nothing without a question if a model gives %s values',
      async (kind) => {
        const changed: string[] = []
        let passed = 0
        let count = 0
        for (const { row, call } of meant) {
          const own = toolAlone(call.tool)
          for (const bad of badCalls[kind](call, own)) {
            if (isMeant(row, bad)) continue
            count++
            const { made } = await outcomeOf(row.request, own, modelThatCalls(bad))
            if (made.length === 0) continue
            passed++
            if (!readsOnly(bad.tool, own)) changed.push(`${row.request} → ${JSON.stringify(bad)}`)
          }
        }
        expect(changed).toEqual([])
        expect(passed / count).toBeLessThan(0.15)
      },
    )
  },
)
