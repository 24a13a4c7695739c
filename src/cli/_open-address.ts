import { spawn } from 'node:child_process'
import type { Runtime } from '../base/index.ts'

/** The program of each system that opens an address in the user's own browser. */
const openers: Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Whether it was opened, once that is known: its program could be started and did not fail at once.
 * The browser outlives this process, and a program that is the browser itself may end much later.
 */
export function openAddress(
  address: string,
  { platform, env, cwd, elapsed }: Pick<Runtime, 'platform' | 'env' | 'cwd' | 'elapsed'>,
): Promise<boolean> {
  const [file, ...args] = openers[platform] ?? ['xdg-open']
  const begun = elapsed()
  return new Promise((resolve) => {
    const child = spawn(file, [...args, address], { detached: true, stdio: 'ignore', env, cwd })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0 || elapsed() - begun > openingMs))
    child.unref()
  })
}

/** Whoever looks for a browser has found one by then. */
const openingMs = 10_000
