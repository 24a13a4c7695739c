import { spawn } from 'node:child_process'
import { findProgram, safeSearchPath, windowsProgram } from './find-program.ts'
import type { Runtime } from './runtime.ts'

const openers: Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
}

/**
 * Whether an address is a web page, or a page of a program on this machine. Other addresses would start
 * other programs: `file:`, `vscode:`, `ssh:`.
 */
export function isPageAddress(address: string): boolean {
  const { protocol, hostname } = URL.parse(address) ?? {}
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname ?? ''))
}

function isLoopback(hostname: string): boolean {
  const isName = hostname === 'localhost' || hostname.endsWith('.localhost')
  return isName || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/**
 * Opens an address in the user's browser. Resolves with whether the opening program started and did not
 * fail at once; it may outlive this process. Starts nothing if the address is not a {@link isPageAddress page}.
 */
export function openAddress(
  address: string,
  runtime: Pick<Runtime, 'platform' | 'env' | 'cwd' | 'elapsed'>,
): Promise<boolean> {
  const { platform, cwd, elapsed } = runtime
  const [name, ...args] = openers[platform] ?? ['xdg-open']
  const file = platform === 'win32' ? windowsProgram(name, runtime) : findProgram(name, runtime)
  if (!isPageAddress(address) || file === undefined) return Promise.resolve(false)
  // `xdg-open` is a script that looks for browsers on the search path.
  const safe = platform === 'win32' ? {} : { PATH: safeSearchPath(runtime) }
  const env = { ...runtime.env, ...safe }
  const startMs = elapsed()
  return new Promise((resolve) => {
    const child = spawn(file, [...args, address], { detached: true, stdio: 'ignore', env, cwd })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0 || elapsed() - startMs > openingMs))
    child.unref()
  })
}

const openingMs = 10_000
