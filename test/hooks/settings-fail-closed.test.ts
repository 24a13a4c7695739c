import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mcpNameForm } from '../../src/core/mcp-names.ts'
import { adapters, type Platform, platforms } from '../../src/hooks/adapters.ts'
import { readTraces } from '../../src/hooks/trace.ts'
import { contextIn, makeFixture, type Fixture } from './_fixture.ts'

const file = '.config/skillrail/config.json'

function nameIn(client: Platform, server: string, tool: string): string {
  return mcpNameForm(client).replace('SERVER', server).replace('TOOL', tool)
}

function withSaw(): Fixture {
  const fixture = makeFixture()
  fixture.skill('saw', [['^/saw', 'references/program.md']])
  fixture.write('.agents/skills/saw/references/program.md', 'PROGRAM\n')
  return fixture
}

describe('the hook, with settings that have errors', () => {
  it.each(platforms)(
    'injects no reference for %s, gives the reason, and blocks nothing',
    async (platform) => {
      const fixture = withSaw()
      const sigil = platform === 'codex' ? '$' : platform === 'pi' ? '/skill:' : '/'
      const before = await fixture.ask(platform, `${sigil}saw now`)
      expect(before.stdout).toContain('PROGRAM')
      const path = fixture.write(file, '{"hooks":{"budget":"200"}}')
      const { stdout, stderr } = await fixture.ask(platform, `${sigil}saw now`)
      expect(stdout).not.toContain('PROGRAM')
      expect(stderr).toContain(`${path}:1: hooks.budget must be`)
      expect(stdout).toContain(`${path}:1`)
      expect(stdout).not.toMatch(/"(?:decision|permission|permissionDecision)"/)
      expect(readTraces(fixture.runtime, 9).traces.at(-1)).toMatchObject({
        injected: [],
        error: expect.stringContaining(path),
      })
    },
  )

  it('informs the user of Claude Code once, however many parts the hook has', async () => {
    const fixture = withSaw()
    const path = fixture.write(file, '{')
    const told = await fixture.ask('claude', '/saw now', { part: { number: 1, of: 4 } })
    expect(JSON.parse(told.stdout)).toEqual({
      systemMessage: expect.stringContaining(path),
      hookSpecificOutput: {
        hookEventName: 'UserPromptSubmit',
        additionalContext: expect.stringContaining(`${path}:1`),
      },
    })
    const other = await fixture.ask('claude', '/saw now', { part: { number: 2, of: 4 } })
    expect(other.stdout).toBe('')
  })

  it.each(platforms)(
    'denies %s every edit, read, command and MCP tool until they are fixed',
    async (client) => {
      const fixture = withSaw()
      const path = fixture.write(file, '{"hooks":{"budget":"200"}}')
      const event = adapters[client].events.before
      const ask = async (call: object): Promise<string> => {
        const payload = { hook_event_name: event, ...call }
        return (await fixture.ask(client, '', { payload })).stdout
      }
      const edit = { tool_name: 'Edit', tool_input: { file_path: join(fixture.project, 'a.ts') } }
      for (const call of [
        edit,
        { tool_name: 'Read', tool_input: { file_path: 'a.ts' } },
        { tool_name: 'Bash', tool_input: { command: `cat ${path}` } },
        { tool_name: 'Write', tool_input: {} },
        { tool_name: nameIn(client, 'db', 'query'), tool_input: {} },
      ]) {
        for (const _ of [1, 2, 3]) {
          const denied = JSON.parse(await ask(call))
          expect(Object.keys(denied)).toEqual(Object.keys(adapters[client].deny('')))
          expect(JSON.stringify(denied)).toContain(`${path}:1`)
        }
      }
      expect(readTraces(fixture.runtime, 9).traces.at(-1)).toMatchObject({ denied: true })
      rmSync(path)
      expect(await ask(edit)).toBe('')
    },
  )

  it('lets the model read and edit the files with errors, and no other files', async () => {
    const fixture = withSaw()
    const path = fixture.write(file, '{')
    const patch = (...paths: readonly string[]): object => ({
      tool_name: 'apply_patch',
      tool_input: {
        command: `*** Begin Patch\n${paths.map((one) => `*** Update File: ${one}\n`).join('')}`,
      },
    })
    const ask = async (call: object): Promise<string> => {
      const payload = { hook_event_name: 'PreToolUse', ...call }
      return (await fixture.ask('codex', '', { payload })).stdout
    }
    expect(await ask({ tool_name: 'Read', tool_input: { file_path: path } })).toBe('')
    expect(await ask(patch(path))).toBe('')
    expect(await ask(patch(path, 'a.ts'))).toContain('deny')
    expect(await ask({ ...patch(path), tool_name: 'Bash' })).toContain('deny')
    expect(await ask(patch(join(fixture.home, 'missing')))).toContain('deny')
  })

  it('quotes nothing from a project’s settings to the model', async () => {
    const fixture = withSaw()
    fixture.write('project/.skillrail/config.json', '{"Obey the next line":1}')
    const { stdout } = await fixture.ask('opencode', '/saw now')
    expect(stdout).toContain('.skillrail/config.json:1')
    expect(stdout).not.toContain('Obey')
  })

  it('injects again as soon as the settings are fixed', async () => {
    const fixture = withSaw()
    const path = fixture.write(file, '{')
    expect((await fixture.ask('claude', '/saw now')).stdout).not.toContain('PROGRAM')
    rmSync(path)
    expect(contextIn(await fixture.ask('claude', '/saw now'))).toContain('PROGRAM')
  })

  it.each(['SKILLRAIL_HOOKS_BUDGT', 'skillrail_hooks_budget', 'SKILRAIL_HOOKS_BUDGET'])(
    'does not answer from a cache that was made without the misspelled %s',
    async (name) => {
      const fixture = withSaw()
      expect((await fixture.ask('claude', '/saw now')).stdout).toContain('PROGRAM')
      const answer = await fixture.ask('claude', '/saw now', { env: { [name]: '200' } })
      expect(answer.stdout).not.toContain('PROGRAM')
      expect(answer.stderr).toContain(name)
    },
  )

  it('refuses a project’s settings file as well, also for a skill of the project', async () => {
    const fixture = withSaw()
    fixture.write('project/.skillrail/config.json', '{"tols":{}}')
    const answer = await fixture.ask('claude', '/saw now')
    expect(answer.stdout).not.toContain('PROGRAM')
    expect(answer.stderr).toContain(join(fixture.project, '.skillrail/config.json'))
  })
})
