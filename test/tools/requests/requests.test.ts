import { describe, expect, it } from 'vitest'
import { carryOut, listedTools, requests } from './_servers.ts'

/** Calls that do the same as the expected ones. */
const alsoRight: readonly string[] = ['git__git_push {"force":false}']

describe('requests of users to real servers', () => {
  for (const set of ['everyday', 'traps'] as const) {
    it(`lead to the intended call or to a question: ${set}`, async () => {
      const requestsInSet = requests.filter((one) => one.set === set)
      const servers = new Set(requestsInSet.map(({ server }) => server))
      const tools = listedTools.filter(({ server }) => servers.has(server))
      const wrong: string[] = []
      let right = 0
      for (const { server, request, tool, params } of requestsInSet) {
        const { calls } = await carryOut(request, tools)
        const expected = `${server}__${tool} ${JSON.stringify(sorted(params))}`
        const made = calls.map(inOrder)
        if (made.length === 1 && made[0] === expected) right++
        else if (made.some((call) => !alsoRight.includes(call)))
          wrong.push(`${request} → ${made.join()}`)
      }
      expect(wrong).toEqual([])
      expect(right / requestsInSet.length).toBeGreaterThan(set === 'everyday' ? 0.4 : 0.2)
    })
  }
})

describe('a value in a request', () => {
  it.each([
    ['time', 'timestamp for 2026-01-01', 'time__get_timestamp {"time":"2026-01-01"}'],
    ['git', 'git diff between v1 and v2 in /home/ann/app', undefined],
    ['time', 'how many days does February 2028 have', undefined],
    [
      'filesystem',
      'search for *.md files in /home/ann/docs',
      'filesystem__search_files {"path":"/home/ann/docs","pattern":"*.md"}',
    ],
    [
      'taskmanager',
      'mark task task-2 of request req-1 as done',
      'taskmanager__mark_task_done {"requestId":"req-1","taskId":"task-2"}',
    ],
    [
      'slack',
      'post "deploy done" to slack channel C012345',
      'slack__slack_post_message {"channel_id":"C012345","text":"deploy done"}',
    ],
    ['github', 'list issues in acme/site created by bob', undefined],
    ['time', 'what time is it in Tokyo', undefined],
    ['git', 'git push origin main with force', undefined],
    ['filesystem', 'list /home/ann sorted by size', undefined],
  ])('for %s is part of the call, or no tool is called: %s', async (server, request, call) => {
    const tools = listedTools.filter((one) => one.server === server)
    const { answer, calls } = await carryOut(request, tools)
    expect(calls.map(inOrder)).toEqual(call === undefined ? [] : [call])
    expect(answer).toMatchObject({ kind: call === undefined ? 'unsure' : 'called' })
  })

  it('is listed with the tool and the parameters that were read', async () => {
    const tools = listedTools.filter(({ server }) => server === 'github')
    const { answer } = await carryOut('list issues in acme/site created by bob', tools)
    expect(answer).toMatchObject({
      tool: 'github__list_issues',
      params: { owner: 'acme', repo: 'site' },
      unplaced: ['created', 'bob'],
    })
  })
})

function inOrder(call: string): string {
  const [id = '', ...rest] = call.split(' ')
  const params: Record<string, unknown> = JSON.parse(rest.join(' '))
  return `${id} ${JSON.stringify(sorted(params))}`
}

function sorted(params: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(params).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
