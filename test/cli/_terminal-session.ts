import { spawn, spawnSync } from 'node:child_process'
import type { CliOptions } from './run-cli.ts'
import { bin, coverageVariables } from '../command-line.ts'

/** Why nothing can be run in a terminal here; undefined where it can. */
export const noTerminal: string | undefined =
  spawnSync('script', ['-q', '-e', '-c', 'test -t 0 && command -v pgrep', '/dev/null']).status === 0
    ? undefined
    : 'it takes `script` of util-linux, and `pgrep`'

/** A command line in a pseudo-terminal of its own, with somebody who types. */
export interface TerminalSession {
  /** Everything that was shown so far. */
  shown(): string
  /** Waits until the screen has shown this, after what was waited for before. */
  until(text: string): Promise<void>
  /** Types; `\u0003` is Ctrl-C. */
  type(text: string): void
  /** The exit code, once the command has ended. */
  readonly code: Promise<number | null>
}

/** `script` makes the terminal, hands on what is typed, and ends with the command's exit code. */
export function inTerminal(
  args: readonly string[],
  { cwd, home }: Pick<CliOptions, 'cwd' | 'home'>,
): TerminalSession {
  const line = [process.execPath, '--disable-warning=ExperimentalWarning', bin, ...args]
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(' ')
  const inside = `stty cols 120 rows 40; exec ${line}`
  const child = spawn('script', ['-q', '-f', '-e', '-c', inside, '/dev/null'], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      NO_COLOR: '1',
      ...coverageVariables,
    },
  })
  let screen = ''
  let seen = 0
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const one of waiting) one()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    look()
  })
  child.stdin.on('error', () => undefined)
  const code = new Promise<number | null>((resolve) => {
    child.on('close', (status) => {
      resolve(status)
      ended = true
      look()
    })
  })
  let ended = false
  return {
    shown: () => screen,
    code,
    type: (text) => void child.stdin.write(text),
    until: (text) =>
      new Promise<void>((resolve, reject) => {
        const check = (): void => {
          const at = screen.indexOf(text, seen)
          if (at === -1 && !ended) return
          waiting.delete(check)
          if (at === -1) return reject(new Error(`never shown: ${text}\n${screen}`))
          seen = at + text.length
          resolve()
        }
        waiting.add(check)
        check()
      }),
  }
}
