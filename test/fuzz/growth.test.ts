import { describe, expect, it } from 'vitest'
import { adviseOnSkill } from '../../src/skill/advice.ts'
import { FieldReader } from '../../src/skill/field-values.ts'
import { blankObjects } from '../../src/tools/call/directive-text.ts'
import { readDocument } from '../../src/tools/config/document.ts'
import type { ServerDefinition } from '../../src/tools/config/model.ts'
import { selectServers } from '../../src/tools/config/read-configuration.ts'
import { checkWorkflows } from '../../src/tools/workflow/check-workflows.ts'
import { readWorkflows } from '../../src/tools/workflow/read-workflows.ts'

/** What once took the square of its input; prepares the work of a size. */
const works: Readonly<Record<string, { size: number; of(size: number): () => unknown }>> = {
  'places in TOML': {
    size: 2000,
    of(size) {
      const names = Array.from({ length: size }, (_, at) => `a${at}`)
      const text = names.map((name) => `[servers.${name}]\ncommand = 1`).join('\n')
      return () => {
        const document = readDocument(text, 'toml')
        for (const name of names) {
          if (document.ok) document.lineOf(['servers', name, 'url'])
        }
      }
    },
  },
  'choice of servers': {
    size: 1500,
    of(size) {
      const servers = Array.from({ length: size }, (_, at) => serverOf(`s${at}`))
      return () => selectServers(servers)
    },
  },
  'cycles of workflows': {
    size: 200,
    of(size) {
      const workflows = Array.from({ length: size }, (_, at) => [
        `w${at}`,
        {
          description: 'd',
          triggers: { tools: [`t__${at}`] },
          prerequisites: [{ step: 1, tool: `t__${at + 1}`, description: 'd' }],
        },
      ])
      const text = JSON.stringify(Object.fromEntries(workflows))
      const read = readWorkflows([{ path: '/w.json', text }])
      return () => checkWorkflows(read.workflows)
    },
  },
  'objects in a text': {
    size: 4000,
    of(size) {
      const objects = Array.from({ length: size }, (_, at) => ({
        start: 3 * at,
        end: 3 * at + 2,
        value: {},
      }))
      return () => blankObjects('{} '.repeat(size), objects)
    },
  },
  'files that a body names': {
    size: 1500,
    of(size) {
      const names = Array.from({ length: size }, (_, at) => `references/a${at}.md`)
      const files = names.map((path) => ({ path, size: 1, executable: false }))
      const body = names.map((name) => `[x](${name})`).join('\n')
      return () =>
        adviseOnSkill(new FieldReader('SKILL.md', []), {
          description: { text: undefined, at: undefined },
          body,
          bodyLine: 1,
          files,
        })
    },
  },
}

describe('the processor time of', () => {
  it.each(Object.entries(works))('%s grows like the input', (_, { size, of }) => {
    // Some kernels count the time of a thread in steps of 4 ms.
    const growsLikeSquare = (): boolean => taken(of(4 * size)) > 10 * Math.max(taken(of(size)), 4)
    // What other work makes slow for a moment is not slow all three times.
    expect([growsLikeSquare, growsLikeSquare, growsLikeSquare].every((grows) => grows())).toBe(
      false,
    )
  })
})

function serverOf(name: string): ServerDefinition {
  return {
    name,
    transport: { kind: 'stdio', command: 'x', args: [], env: {} },
    source: { client: 'claude-code', path: '/p/.mcp.json', scope: 'project' },
    startupTimeoutMs: 1,
    callTimeoutMs: 1,
    disabled: false,
    trusted: true,
    digest: '',
  }
}

/** Milliseconds of the processor, the least of some tries. */
function taken(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
