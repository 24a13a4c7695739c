import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientNames } from '../../src/core/client-folders.ts'
import {
  fitsMcpPattern,
  mayBeMcpName,
  mcpNameForm,
  mcpReadings,
  readMcpPattern,
} from '../../src/core/mcp-names.ts'

const client = fc.constantFrom(...clientNames)
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}(?:[_-][a-z0-9]{1,5}){0,2}$/)
const nameIn = (form: string, server: string, tool: string): string =>
  form.replace('SERVER', () => server).replace('TOOL', () => tool)

function fits(name: string, pattern: string, of?: (typeof clientNames)[number]): boolean {
  const read = readMcpPattern(pattern)
  return read !== undefined && fitsMcpPattern(name, read, of)
}

describe('the name of an MCP tool', () => {
  it('fits its own pattern in the form of every client, and any part of it may be a `*`', () => {
    fc.assert(
      fc.property(client, word, word, fc.nat(20), (one, server, tool, at) => {
        const name = nameIn(mcpNameForm(one), server, tool)
        const cut = Math.min(at, tool.length)
        const patterns = [
          `mcp__${server}__${tool}`,
          `mcp__${server}`,
          `mcp__${server}__*`,
          `mcp__*__${tool}`,
          `mcp__${server}__${tool.slice(0, cut)}*`,
          `mcp__${server}__*${tool.slice(cut)}`,
        ]
        expect(patterns.filter((pattern) => !fits(name, pattern, one))).toEqual([])
        expect(mayBeMcpName(name, one)).toBe(true)
      }),
    )
  })

  it('does not fit the pattern of a tool with another beginning', () => {
    fc.assert(
      fc.property(client, word, word, (one, server, tool) => {
        const name = nameIn(mcpNameForm(one), server, tool)
        expect(fits(name, `mcp__${server}__x${tool}`, one)).toBe(false)
        expect(fits(name, `mcp__x${server}__${tool}`, one)).toBe(false)
      }),
    )
  })

  it('has the server and the tool among its readings', () => {
    fc.assert(
      fc.property(client, word, word, (one, server, tool) => {
        const readings = mcpReadings(nameIn(mcpNameForm(one), server, tool), one)
        expect(readings).toContainEqual({ server, tool })
      }),
    )
  })

  it.each([
    ['mcp__kelp__smelt_kelp', undefined, ['kelp smelt_kelp']],
    ['mcp__plugin_sea__x__dry', 'claude', ['plugin_sea x__dry', 'plugin_sea__x dry']],
    ['kelp-smelt_kelp', 'copilot', ['kelp smelt_kelp']],
    ['deep-kelp-dry', 'copilot', ['deep kelp-dry', 'deep-kelp dry']],
    ['mcp_kelp_dry', 'gemini', ['kelp dry']],
    ['kelp_dry', 'opencode', ['kelp dry']],
    ['Bash', 'claude', []],
    ['kelp_dry', 'copilot', []],
    ['mcp__kelp', 'claude', []],
    ['mcp____dry', 'claude', []],
    ['kelp_', 'opencode', []],
  ] as const)('reads %s of %s', (name, of, expected) => {
    const readings = mcpReadings(name, of).map(({ server, tool }) => `${server} ${tool}`)
    expect(readings).toEqual(expected)
  })
})
