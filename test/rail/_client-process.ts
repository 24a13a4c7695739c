import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { guardedCommand } from '../../src/hooks/guarded-command.ts'
import { fromSources } from '../command-line.ts'
import type { HookJson } from './_session.ts'

/** A process that is called like a client: it calls the hook as one does, and its agent has a shell. */
export interface FakeClient {
  pid: number
  hook(payload: object): Promise<HookJson | undefined>
  /** Runs a line as the agent does. `input` is its standard input. */
  shell(line: string, input?: object): Promise<string>
}

interface Place {
  home: string
  directory: string
  env: Readonly<Record<string, string | undefined>>
}

const hookMain = fileURLToPath(
  new URL(
    fromSources ? '../../src/rail/hook-main.ts' : '../../dist/hook/hook.cjs',
    import.meta.url,
  ),
)

/** What each client makes of a request: its own call of the hook, or a line in the shell of its agent. */
const clientText = `
const { createInterface } = require('node:readline')
const { spawn } = require('node:child_process')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, command, input, marks } = JSON.parse(line)
  const child = spawn('/bin/sh', ['-c', command], { env: { ...process.env, ...marks }, stdio: ['pipe', 'pipe', 2] })
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.on('close', () => process.stdout.write(JSON.stringify({ id, output }) + '\\n'))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
})
`

export interface FakeFiles {
  program: string
  file: string
  launcher: string
  /** How the client calls the hook. */
  command: string
}

/** Writes `claude`, and the launcher of the hook. */
export function installFakeClient({ home }: Place): FakeFiles {
  const program = join(home, 'claude')
  symlinkSync(process.execPath, program)
  const file = join(home, 'claude.js')
  writeFileSync(file, clientText)
  const launcher = join(home, 'skillrail-hook')
  writeFileSync(
    launcher,
    `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${hookMain}' "$@"\n`,
  )
  chmodSync(launcher, 0o755)
  return { program, file, launcher, command: guardedCommand(launcher, 'claude') }
}

/** Starts one that no process of the test is above of, whatever runs the test. */
export async function startFakeClient(
  { directory, env }: Place,
  { program, file, command }: FakeFiles,
): Promise<FakeClient> {
  // Its parent ends at once, and Node closes the input of a child that has ended.
  const start = `setsid sh -c 'echo "$$"; exec "$0" "$@"' '${program}' '${file}' <&3 >&4 &`
  const child = spawn('/bin/sh', ['-c', start], {
    cwd: directory,
    env: { ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
  })
  const [, , , requests, answers] = child.stdio
  const isPiped = requests instanceof Writable && answers instanceof Readable
  if (!isPiped) throw new Error('the client has no pipes')
  const input: Writable = requests
  onTestFinished(() => void input.end())
  const lines = createInterface({ input: answers })[Symbol.asyncIterator]()
  const pid = Number((await lines.next()).value)
  let count = 0
  async function ask(request: object): Promise<string> {
    const id = count++
    input.write(`${JSON.stringify({ id, ...request })}\n`)
    const { value } = await lines.next()
    const answer: { output: string } = JSON.parse(String(value))
    return answer.output
  }
  return {
    pid,
    async hook(payload) {
      const output = await ask({ command, input: JSON.stringify(payload), marks: {} })
      return output === '' ? undefined : JSON.parse(output)
    },
    async shell(line, input = {}) {
      const text = `${JSON.stringify(input)}\n`
      return await ask({ command: line, input: text, marks: { CLAUDECODE: '1' } })
    },
  }
}

/** Whether the processes of this machine can be read, and the tools for such clients are there. */
export const canStartFakeClients =
  process.platform === 'linux' && spawnSync('setsid', ['--version']).status === 0
