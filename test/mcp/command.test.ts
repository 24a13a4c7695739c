import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { type CliResult, runCli } from '../cli/run-cli.ts'
import { servedProject } from './_served-project.ts'

const project = servedProject('block', ({ skill }) => skill('saw', '', 'Cut.'))

const cli = async (...args: string[]): Promise<CliResult> =>
  await runCli(args, { cwd: project.project, home: project.home })

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

it('loses no call of two connections to one session', async () => {
  const options = { args: ['--trust-workspace', '--session', 'both'] }
  const [one, two] = await Promise.all([project.start(options), project.start(options)])
  const calls = [one, two].flatMap(({ text }) =>
    Array.from({ length: 10 }, async (_, index) => {
      const input = { tool: 'get_echo', params: { message: String(index) } }
      return await text('call_tool', input)
    }),
  )
  await Promise.all(calls)
  await Promise.all([one.client.close(), two.client.close()])
  const shown = await cli('session', 'show', '--session', 'both', '--json')
  expect(JSON.parse(shown.stdout).calls).toHaveLength(20)
})
