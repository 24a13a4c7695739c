import { describe, expect, it } from 'vitest'
import type { ServerProject } from './project.ts'
import { useFixture } from './fixture.ts'

describe('several calls in one command', () => {
  const fixture = useFixture(['everything', 'filesystem', 'memory'])
  const project = (): ServerProject => fixture().project

  it('continues a batch when a member fails, and keeps the order', async () => {
    const batch = [
      { tool: 'everything__echo', params: { message: 'first' } },
      { tool: 'filesystem__read_text_file', params: { path: 'absent.txt' } },
      { tool: 'get-sum', params: { a: 17, b: 25 } },
    ]
    const text = `BATCH: ${JSON.stringify(batch)}`
    const { code, answer } = await project().json(['tools', 'batch', text])
    expect(code).toBe(1)
    expect(answer).toMatchObject([
      { tool: 'everything__echo', status: 'success', result: 'Echo: first' },
      {
        tool: 'filesystem__read_text_file',
        status: 'error',
        error: expect.stringMatching(/ENOENT|absent|denied/i),
      },
      { tool: 'get-sum', status: 'success', result: expect.stringContaining('42') },
    ])
  })

  it('rejects a batch of eleven as a whole', async () => {
    const eleven = Array.from({ length: 11 }, () => ({ tool: 'get-sum', params: { a: 1, b: 2 } }))
    const { code, answer } = await project().json(['tools', 'batch', JSON.stringify(eleven)])
    expect(code).toBe(2)
    expect(answer.error.message).toBe('Batch size exceeds limit of 10 tools')
  })

  it('passes a part of an answer to the next call of a chain', async () => {
    const chain = [
      {
        tool: 'memory__create_entities',
        params: { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] },
        output_as: 'element',
      },
      {
        tool: 'memory__open_nodes',
        params: { names: ['$element.entities[0].name'] },
        output_as: 'found',
      },
      { tool: 'everything__echo', params: { message: '$found.entities[0].observations[0]' } },
    ]
    const { code, answer } = await project().json(['tools', 'chain', '-'], {
      stdin: `CHAIN: ${JSON.stringify(chain)}`,
    })
    expect(code).toBe(0)
    expect(answer.completed.map(({ tool }: { tool: string }) => tool)).toEqual(
      chain.map(({ tool }) => tool),
    )
    expect(answer.completed[2].result).toBe('Echo: likes tea')
    expect(answer).toMatchObject({ skipped: [] })
  })

  it('stops a chain at its first failure, and lists the skipped calls', async () => {
    const chain = [
      { tool: 'everything__echo', params: { message: 'a' }, output_as: 'element' },
      { tool: 'filesystem__read_text_file', params: { path: '$element' } },
      { tool: 'memory__read_graph' },
    ]
    const { code, answer } = await project().json(['tools', 'chain', JSON.stringify(chain)])
    expect(code).toBe(1)
    expect(answer).toMatchObject({
      completed: [{ tool: 'everything__echo' }],
      failed: { tool: 'filesystem__read_text_file' },
      skipped: ['memory__read_graph'],
    })
  })

  it('calls a tool that prose names, in any spelling, with its parameters', async () => {
    for (const id of ['everything__echo', 'mcp__everything__echo', 'MetaMCP_everything__echo']) {
      const request = `Please use ${id} {"message": "from prose"} for this.`
      const { code, stdout } = await project().cli(['tools', 'do', request, '--yes'])
      expect(code).toBe(0)
      expect(stdout).toContain('Echo: from prose')
    }
  })

  it('reads a name with two underscores that no server has as prose', async () => {
    const { stderr } = await project().cli([
      'tools',
      'do',
      'explain __init__.py to me',
      '--dry-run',
    ])
    expect(stderr).not.toContain('not found')
  })

  it('adds the numbers that a sentence gives by name, and asks which is which otherwise', async () => {
    const named = await project().cli(['tools', 'do', 'what is the sum of a=17 and b=25?'])
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('42') })
    const bare = await project().cli(['tools', 'do', 'what is the sum of 17 and 25?'])
    expect(bare).toMatchObject({ code: 3, stdout: '' })
    expect(bare.stderr).toContain('everything__get-sum')
  })

  it('suggests similar names for an unknown tool', async () => {
    const { code, stdout, stderr } = await project().cli(['tools', 'call', 'memory__read_graf'])
    expect(code).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toMatch(
      /Tool not found: memory__read_graf\nSuggestions: [^\n]*memory__read_graph/,
    )
  })

  it('names the missing parameter and its type, and calls no tool', async () => {
    const { code, stderr } = await project().cli(['tools', 'call', 'get-sum', '{"a": "x"}'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/b/)
  })

  it('shows the progress of a long call', async () => {
    const { code, stderr } = await project().cli([
      'tools',
      'call',
      'trigger-long-running-operation',
      'duration=1',
      'steps=2',
      '--verbose',
    ])
    expect(code).toBe(0)
    expect(stderr).toMatch(/1\/2/)
  })
})
