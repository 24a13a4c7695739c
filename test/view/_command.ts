import { type ChildProcess, spawn } from 'node:child_process'
import readline from 'node:readline'
import { bin, coverageVariables } from '../command-line.ts'
import { tokenFor } from './_view.ts'

/** `skillrail view` in a process of its own. */
export interface ViewProcess {
  /** One that was not used yet: each works once. */
  address(): Promise<string>
  token: string
  port: number
  /** The JSON of an answer. */
  ask(name: string, question?: object): Promise<ReturnType<typeof JSON.parse>>
  child: ChildProcess
  /** Ctrl-C; the exit code. */
  interrupt(): Promise<number | null>
  /** What it said on standard error by now. */
  said(): string
}

export async function startView(
  cwd: string,
  home: string,
  { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<ViewProcess> {
  const command = ['--disable-warning=ExperimentalWarning', bin, 'view', ...args]
  const child = spawn(process.execPath, command, {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      ...coverageVariables,
      ...env,
    },
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const printed = readline.createInterface(child.stdout)[Symbol.asyncIterator]()
  const address = async (): Promise<string> => {
    const { value, done } = await printed.next()
    if (done === true) throw new Error(`it ended and said: ${said}`)
    return value
  }
  const first = await address()
  const port = Number(new URL(first).port)
  const token = await tokenFor(first)
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return {
    address,
    token,
    port,
    child,
    said: () => said,
    async ask(name, question = {}) {
      const response = await fetch(`http://127.0.0.1:${port}/api/${name}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify(question),
      })
      return JSON.parse(await response.text())
    },
    async interrupt() {
      child.kill('SIGINT')
      return await ended
    },
  }
}
