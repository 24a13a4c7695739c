import { spawnSync } from 'node:child_process'
import {
  utimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const server = join(root, 'test/fixtures/programs/tool-server.ts')

interface Call {
  /** Below `src`. */
  entry: string
  args: readonly string[]
  input?: string
  /** What is run first, so that caches are warm; default: the same. */
  first?: readonly string[]
  /** How long the caches of the first run need before they are trusted. */
  settleMs?: number
}

/** Files of the sources of which a command executes a function, by the coverage of V8. */
function executedBy({ entry, args, input = '', first = args, settleMs = 0 }: Call): string[] {
  const place = writeProject()
  const coverage = join(place, 'coverage')
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [join(root, 'src', entry), ...words], {
      cwd: join(place, 'project'),
      env: { HOME: join(place, 'home'), PATH: process.env['PATH'] ?? '', ...env },
      encoding: 'utf8',
      input,
    })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, settleMs)
  run(first)
  const { status, stderr } = run(args, { NODE_V8_COVERAGE: coverage })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  const found = new Set<string>()
  for (const name of readdirSync(coverage)) {
    const report: {
      result: { url: string; functions: { ranges: { count: number }[] }[] }[]
    } = JSON.parse(readFileSync(join(coverage, name), 'utf8'))
    for (const { url, functions } of report.result) {
      const [, path] = url.split(`${root}/src/`)
      const isExecuted = functions.slice(1).some(({ ranges: [whole] }) => (whole?.count ?? 0) > 0)
      if (path !== undefined && isExecuted) found.add(path)
    }
  }
  return [...found].toSorted()
}

function writeProject(): string {
  const place = mkdtempSync(join(tmpdir(), 'call-paths-'))
  const write = (path: string, text: string): void => {
    const whole = join(place, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, text, { mode: 0o755 })
  }
  const skill = (name: string, more = ''): string =>
    `---\nname: ${name}\ndescription: Does ${name}. Use it here.\n${more}---\n`
  for (const name of ['one', 'two']) {
    write(`project/.skillrail/skills/${name}/SKILL.md`, skill(name))
    write(`project/.skillrail/skills/${name}/scripts/run.sh`, '#!/bin/sh\necho done\n')
  }
  write('project/.skillrail/skills/both/SKILL.md', skill('both', 'metadata:\n  chain: one two\n'))
  write('home/.agents/skills/told/how.md', 'This is how.\n')
  const triggers = 'triggers:\n  - match: "^/deploy"\n    inject: how.md\n'
  write('home/.agents/skills/told/SKILL.md', skill('told', triggers))
  const things = { command: process.execPath, args: [server, join(place, 'calls')] }
  write('project/.mcp.json', JSON.stringify({ mcpServers: { things } }))
  write('project/.git/HEAD', '')
  // Caches do not trust files that changed just now.
  for (const path of readdirSync(place, { recursive: true, encoding: 'utf8' })) {
    utimesSync(join(place, path), 1_000_000_000, 1_000_000_000)
  }
  return place
}

/** Each limit may only fall. */
describe('a command executes few source files', () => {
  it('a chain of two scripts', () => {
    expect(
      executedBy({ entry: 'cli/bin.ts', args: ['run', 'both', '--trust-workspace'] }).length,
    ).toBeLessThanOrEqual(70)
  })

  it.each([
    { cache: 'that reads the skills again', settleMs: 0, most: 40 },
    { cache: 'with a cache', settleMs: 2500, most: 20 },
  ])('a hook with a match, $cache', ({ settleMs, most }) => {
    const event = { hook_event_name: 'UserPromptSubmit', prompt: '/deploy now' }
    const input = JSON.stringify(event)
    const executed = executedBy({
      entry: 'hooks/hook-main.ts',
      args: ['claude'],
      input,
      settleMs,
    })
    expect(executed.length).toBeLessThanOrEqual(most)
    expect(executed.length).toBeGreaterThan(5)
  })

  it('the call of a tool by its exact name', () => {
    const args = ['tools', 'call', 'things__get_echo', '--trust-workspace', 'message=hi']
    const first = ['tools', 'refresh', '--trust-workspace']
    expect(executedBy({ entry: 'cli/bin.ts', args, first }).length).toBeLessThanOrEqual(60)
  })
})
