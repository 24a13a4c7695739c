import { expect, it } from 'vitest'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import type { ToolSummary } from '../../../src/tools/model.ts'

function tool(server: string, name: string, description: string): ToolSummary {
  const parameters = { parameters: [], required: [] }
  return { id: `${server}__${name}`, server, name, description, ...parameters, readOnly: true }
}

const nouns = 'team project release event replay profile key member rule alert'.split(' ')
const several = (server: string, verbs: readonly string[]): ToolSummary[] =>
  verbs.flatMap((verb) =>
    nouns.map((noun) => tool(server, `${verb}_${noun}`, `${verb}s a ${noun} in ${server}.`)),
  )

it.each([
  ['few tools', ['find']],
  ['many tools', ['find', 'create', 'update', 'delete', 'archive', 'export', 'watch', 'share']],
])('prefers a tool of the server that the request names, if it has %s', (_, verbs) => {
  const { candidates } = prepareRouter([
    ...several('acme', verbs),
    ...several('other', ['open', 'close', 'move', 'label', 'copy']),
    tool('acme', 'whoami', 'Identifies the user of this session.'),
    tool('other', 'get_my_cards', 'Cards that are assigned to the current user.'),
  ]).route('acme current user')
  expect(candidates[0]?.tool).toBe('acme__whoami')
})
