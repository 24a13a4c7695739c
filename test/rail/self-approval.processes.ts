import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bin } from '../command-line.ts'
import { canStartFakeClients, installFakeClient, startFakeClient } from './_client-process.ts'
import { chain, decisions } from './_self-approval.ts'
import { makeSession } from './_session.ts'

/** A session whose chain waits at its gate. */
async function atGate() {
  const session = makeSession(chain)
  await session.prompt('/ship')
  return session
}

/** Runs command lines below a program with the name of a client, and without its variables. */
function belowClient(
  { home, directory, env }: Awaited<ReturnType<typeof atGate>>,
  commands: readonly (readonly string[])[],
): { args: readonly string[]; status: number; stderr: string }[] {
  const program = join(home, 'claude')
  symlinkSync(process.execPath, program)
  // The link has the name of the client, and starts the command line as a separate program.
  const script = `
    const { spawnSync } = require('node:child_process')
    const results = ${JSON.stringify(commands)}.map((args) => {
      const words = ['--no-warnings', ${JSON.stringify(bin)}, ...args]
      const { status, stderr } = spawnSync(${JSON.stringify(process.execPath)}, words, { encoding: 'utf8' })
      return { args, status, stderr }
    })
    process.stdout.write(JSON.stringify(results))`
  const options = { cwd: directory, env, encoding: 'utf8' } as const
  return JSON.parse(spawnSync(program, ['-e', script], options).stdout)
}

it('an agent that is recognised by its ancestor cannot approve or reject its own gate, or give itself a permission', async () => {
  const session = await atGate()
  const commands = decisions(session.runId())
  const results = belowClient(session, commands)
  expect(results).toHaveLength(commands.length)
  for (const { args, status, stderr } of results) {
    expect({ args, status }).toEqual({ args, status: 4 })
    expect(stderr).toContain('Claude Code has started this process')
    expect(stderr).toContain('rail approve')
  }
})

it('an agent that is recognised by its ancestor may start the chain of its rail again', async () => {
  const session = await atGate()
  expect(belowClient(session, [['chain', 'start', 'ship']])).toMatchObject([{ status: 6 }])
})

it.skipIf(!canStartFakeClients)(
  'refuses an approval in a terminal that an agent opens, with and without its variables',
  async () => {
    const { runId, home, directory, env } = await atGate()
    const session = { home: join(home, 'client'), directory, env }
    mkdirSync(session.home)
    const client = await startFakeClient(session, installFakeClient(session))
    const approve = `'${process.execPath}' --no-warnings '${bin}' runs approve ${runId()}`
    for (const line of [
      `printf 'y\\n' | script -qec "${approve}" /dev/null`,
      `unset CLAUDECODE; printf 'y\\n' | script -qec "${approve}" /dev/null`,
    ]) {
      expect(await client.shell(line)).toContain('has started this process')
    }
  },
)
