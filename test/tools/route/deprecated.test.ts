import { describe, expect, it } from 'vitest'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import type { ToolSummary } from '../../../src/tools/model.ts'

function tool(id: string, description: string): ToolSummary {
  const [server = '', name = ''] = id.split('__')
  return { id, server, name, description, parameters: ['path'], required: ['path'] }
}

const others = [
  tool('mail__send_letter', 'Send a letter to somebody'),
  tool('calendar__list_events', 'List the events of a day'),
]

describe('a tool with a deprecation notice', () => {
  const current = tool('notes__fetch_note_text', 'Fetch the text of a note')

  it.each([
    'Fetch a note from the store. DEPRECATED: use fetch_note_text instead.',
    'Deprecated. Fetch a note from the store; see `fetch_note_text`.',
    '[Deprecated] Fetch a note (fetch_note_text replaces it)',
    'Fetch a note from the store @deprecated in favour of fetch_note_text',
    'Fetch a note. This tool is deprecated, call fetch_note_text.',
  ])('passes its requests to the tool that it names: %s', (description) => {
    const old = tool('notes__fetch_note', description)
    const { route } = prepareRouter([old, current, ...others])
    expect(route('fetch the note about taxes')).toMatchObject({ tool: current.id })
    expect(route('notes__fetch_note')).toMatchObject({ decision: 'answer', tool: old.id })
  })

  it('is not chosen if a current tool matches nearly as well', () => {
    const old = tool('notes__fetch_note', 'DEPRECATED. Fetch a note from the store')
    const { route } = prepareRouter([old, current, ...others])
    expect(route('fetch the note about taxes')).toMatchObject({ tool: current.id })
  })

  it('is chosen if no other tool matches', () => {
    const old = tool('notes__fetch_note', 'DEPRECATED. Fetch a note from the store')
    const { route } = prepareRouter([old, ...others])
    expect(route('fetch the note about taxes').tool).toBe(old.id)
  })

  it('is not a tool that only describes deprecated things', () => {
    const about = tool('npm__list_deprecated', 'Lists whether a package is deprecated')
    const { route, explain } = prepareRouter([about, ...others])
    expect(route('which package is deprecated').tool).toBe(about.id)
    const [first] = explain('which package is deprecated').candidates
    expect(first?.parts.map(({ kind }) => kind)).not.toContain('deprecated')
  })

  it('names no successor on another server, and causes no circular search', () => {
    const one = tool('a__show_thing', 'DEPRECATED: use show_item. Show a thing')
    const two = tool('a__show_item', 'DEPRECATED: use show_thing. Show a thing or item')
    const { route } = prepareRouter([one, two, tool('b__show_item', 'Nothing'), ...others])
    expect(route('show a thing').candidates.map((candidate) => candidate.tool)).toContain(one.id)
  })
})
