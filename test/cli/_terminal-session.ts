import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import type { CliOptions } from './run-cli.ts'
import { bin, coverageVariables } from '../command-line.ts'

const columns = 120
const rows = 40

/** A command line in a pseudo-terminal of its own, with somebody who types. */
export interface TerminalSession {
  /** Everything that was written so far, escape sequences included. */
  shown(): string
  /** The text that a terminal emulator shows now, one string for each line that is not empty. */
  screen(): Promise<string[]>
  /** Waits until this was written, after what was waited for before. */
  until(text: string): Promise<void>
  /** Types; `\u0003` is Ctrl-C. */
  type(text: string): void
  /** The exit code, once the command has ended. */
  readonly code: Promise<number | null>
}

export function inTerminal(
  args: readonly string[],
  { cwd, home, env }: Pick<CliOptions, 'cwd' | 'home' | 'env'>,
): TerminalSession {
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', bin, ...args], {
    cols: columns,
    rows,
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      NO_COLOR: '1',
      ...coverageVariables,
      ...env,
    },
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
