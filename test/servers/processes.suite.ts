import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { isMissing, skipReason } from './needs.ts'
import type { ServerProject } from './project.ts'
import { useFixture } from './fixture.ts'

const slowCall = ['tools', 'call', 'trigger-long-running-operation', 'duration=30', 'steps=30']

describe('the processes of servers', () => {
  const fixture = useFixture(['everything', 'memory'])

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'end with a command that is ended by %s in a call',
    async (signal) => {
      const { project } = fixture()
      const command = project.start(slowCall)
      await untilRuns(project, 'mcp-server-everything')
      command.kill(signal)
      await command.ended
      expect(await project.processesLeft()).toEqual([])
    },
  )

  it('end when `tools serve` is killed', async () => {
    const { project } = fixture()
    await project.cli(['tools', 'serve', '--detach'])
    await project.cli(['tools', 'call', 'memory__read_graph'])
    await untilRuns(project, 'mcp-server-memory')
    const { answer } = await project.json(['tools', 'serve', '--status'])
    process.kill(answer.pid, 'SIGKILL')
    expect(await project.processesLeft()).toEqual([])
    const { code } = await project.cli(['tools', 'call', 'memory__read_graph'])
    expect(code).toBe(0)
  })

  it('continue when a command that uses them is killed, and end on request', async () => {
    const { project } = fixture()
    await project.cli(['tools', 'serve', '--detach'])
    const command = project.start(slowCall)
    await untilRuns(project, 'mcp-server-everything')
    command.kill('SIGKILL')
    await command.ended
    const { code } = await project.cli(['tools', 'call', 'everything__echo', 'message=still'])
    expect(code).toBe(0)
    expect((await project.cli(['tools', 'serve', '--stop'])).code).toBe(0)
    expect(await project.processesLeft()).toEqual([])
  })
})

describe.skipIf(isMissing('chromium'))(
  `the processes of a browser${skipReason('chromium')}`,
  () => {
    const fixture = useFixture(['chrome-devtools'])

    it('end with the command', async () => {
      const { project } = fixture()
      const { code } = await project.cli(['tools', 'call', 'list_pages'])
      expect(code).toBe(0)
      expect(await project.processesLeft()).toEqual([])
    })

    it('end when the command is killed while it runs', async () => {
      const { project, page } = fixture()
      const wait = { pageId: 1, text: ['never there'], timeout: 30_000 }
      const command = project.start(['tools', 'call', 'wait_for', JSON.stringify(wait)])
      await untilRuns(project, '--type=renderer')
      command.kill('SIGKILL')
      await command.ended
      expect(await project.processesLeft()).toEqual([])
      expect(page.url).toContain('127.0.0.1')
    })

    it('end when `tools serve` is killed', async () => {
      const { project } = fixture()
      await project.cli(['tools', 'serve', '--detach'])
      await project.cli(['tools', 'call', 'list_pages'])
      await untilRuns(project, '--type=renderer')
      const { answer } = await project.json(['tools', 'serve', '--status'])
      process.kill(answer.pid, 'SIGKILL')
      expect(await project.processesLeft()).toEqual([])
    })
  },
)

/** Waits until a process of the project runs with these words in its command. */
async function untilRuns(project: ServerProject, words: string): Promise<void> {
  for (let round = 0; round < 300; round++) {
    if (project.processes().some(({ command }) => command.includes(words))) return
    await sleep(50)
  }
  throw new Error(`no process with ${words} within 15 s`)
}
