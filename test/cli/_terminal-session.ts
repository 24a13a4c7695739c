import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import type { CliOptions } from './run-cli.ts'
import { bin, coverageVariables } from '../command-line.ts'

/** A program in a pseudo-terminal of its own, with somebody who types. */
export interface TerminalSession {
  /** Everything that was written so far, escape sequences included. */
  shown(): string
  /** The text that a terminal emulator shows now, one string for each line that is not empty. */
  screen(): Promise<string[]>
  /** Waits until this was written, after what was waited for before. */
  until(text: string): Promise<void>
  /** Types; `\u0003` is Ctrl-C. */
  type(text: string): void
  /** The exit code, once the program has ended. */
  readonly code: Promise<number | null>
  /** Ends the program at once. */
  kill(): void
}

interface TerminalProgram {
  file: string
  args: readonly string[]
  cwd: string
  /** The whole environment, except for the kind of terminal. */
  env: Readonly<Record<string, string | undefined>>
  columns: number
  rows: number
}

/** The command line in a large terminal without colours. */
export function inTerminal(
  args: readonly string[],
  { cwd, home, env }: Pick<CliOptions, 'cwd' | 'home' | 'env'>,
): TerminalSession {
  return openTerminal({
    file: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', bin, ...args],
    cwd,
    columns: 120,
    rows: 40,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      SHELL: '/bin/sh',
      NO_COLOR: '1',
      ...coverageVariables,
      ...env,
    },
  })
}

export function openTerminal({
  file,
  args,
  cwd,
  env,
  columns,
  rows,
}: TerminalProgram): TerminalSession {
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const size = { cols: columns, rows }
  const child = spawn(file, [...args], { ...size, cwd, env: { TERM: 'xterm-256color', ...env } })
  // A program asks the terminal for its colours and its cursor, and may wait for the answer.
  emulator.onData((answer) => {
    if (!ended) child.write(answer)
  })
  let written = ''
  let seen = 0
  let ended = false
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const one of waiting) one()
  }
  child.onData((text) => {
    written += text
    emulator.write(text)
    look()
  })
  const code = new Promise<number | null>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      ended = true
      resolve(signal ? null : exitCode)
      look()
    })
  })
  return {
    shown: () => written,
    screen: async () => {
      await new Promise<void>((resolve) => emulator.write('', resolve))
      const { active } = emulator.buffer
      return Array.from({ length: active.length }, (_, row) =>
        (active.getLine(row)?.translateToString(true) ?? '').trimEnd(),
      ).filter((line) => line !== '')
    },
    code,
    type: (text) => child.write(text),
    kill: () => {
      if (!ended) child.kill('SIGKILL')
    },
    until: (text) =>
      new Promise<void>((resolve, reject) => {
        const check = (): void => {
          const at = written.indexOf(text, seen)
          if (at === -1 && !ended) return
          waiting.delete(check)
          if (at === -1) return reject(new Error(`never shown: ${text}\n${written}`))
          seen = at + text.length
          resolve()
        }
        waiting.add(check)
        check()
      }),
  }
}
