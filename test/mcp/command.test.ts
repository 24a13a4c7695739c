import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'
import { servedProject } from './_served-project.ts'

const project = servedProject('block', ({ skill }) => skill('saw', '', 'Cut.'))

const cli = async (...args: string[]): Promise<CliResult> =>
  await runInProcess(args, { cwd: project.project, home: project.home })

it('lists its tools and skills, and starts nothing', async () => {
  const { code, stdout } = await cli('mcp', 'serve', '--list', '--trust-workspace')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ {2}call_tool +Call a tool +acts$/m)
  expect(stdout).toMatch(/^ {2}saw +The skill saw\.$/m)
  expect(stdout).toContain('skill://saw/SKILL.md')
  expect(project.started()).toEqual([])
})

it('says why the extension serves nothing', async () => {
  const { stdout } = await cli('mcp', 'serve', '--list')
  expect(stdout).toContain('none: only trusted skills')
})

it('fails like the view if the port is taken', async () => {
  const taken = createServer()
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, '127.0.0.1', () => {
      const address = taken.address()
      resolve(typeof address === 'object' ? (address?.port ?? 0) : 0)
    })
  })
  const { code, stderr } = await cli('mcp', 'serve', '--http', '--port', String(port))
  taken.close()
  expect(code).toBe(2)
  expect(stderr).toContain(`--port ${port}: the port is in use`)
})

it('prints the same as one document, without untrusted skills', async () => {
  const { stdout } = await cli('mcp', 'serve', '--dry-run', '--json')
  const { tools, prompts, skills } = JSON.parse(stdout)
  expect([tools.length, prompts.length, skills]).toEqual([14, 1, []])
})

it.each([
  [['--json'], '--json has nothing to print'],
  [['--port', '80'], '--port requires --http'],
  [['--token-file', 'x'], '--token-file requires --http'],
  [['--http', '--port', '99999'], 'a whole number from 0 to 65535'],
  [['--list', '--http', '--port', 'zzz'], 'a whole number from 0 to 65535'],
  [['--session', '../x'], 'is not a session ID'],
])('refuses %j', async (options, words) => {
  const { code, stdout, stderr } = await cli('mcp', 'serve', ...options)
  expect(code).toBe(2)
  expect(stdout + stderr).toContain(words)
})
