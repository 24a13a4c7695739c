import { spawn } from 'node:child_process'
import { bin, coverageVariables } from '../command-line.ts'
import type { CliResult } from '../run-in-process.ts'

export interface CliOptions {
  cwd: string
  /** The user's home; everything a command keeps for a user goes below it. */
  home: string
  stdin?: string | undefined
  env?: Record<string, string> | undefined
}

/** Runs the real command line in a process of its own, with nothing of this machine's environment. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', bin, ...args], {
    cwd: options.cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: options.home,
      ...coverageVariables,
      ...options.env,
    },
  })
  child.stdin.on('error', () => undefined) // A command that reads no input may have ended by now.
  child.stdin.end(options.stdin ?? '')
  const [stdout, stderr, code] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, stdout, stderr }
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}
