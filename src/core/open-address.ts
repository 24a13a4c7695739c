import { spawn } from 'node:child_process'
import type { Runtime } from './runtime.ts'

const openers: Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Whether a program for browsers started and did not fail at once. It may outlive this process. */
export function openAddress(
  address: string,
  { platform, env, cwd, elapsed }: Pick<Runtime, 'platform' | 'env' | 'cwd' | 'elapsed'>,
): Promise<boolean> {
  const [file, ...args] = openers[platform] ?? ['xdg-open']
  const startMs = elapsed()
  return new Promise((resolve) => {
    const child = spawn(file, [...args, address], { detached: true, stdio: 'ignore', env, cwd })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0 || elapsed() - startMs > openingMs))
    child.unref()
  })
}

const openingMs = 10_000
