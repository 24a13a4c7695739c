import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirectory } from '../base/index.ts'

/** This program once more, in the background. */
export interface DetachedSelf {
  hasEnded(): boolean
}

/** Starts this program again with other arguments, in a session of its own; `log` gets its words. */
export function detachedSelf(args: readonly string[], cwd: string, log: string): DetachedSelf {
  const [, entry = ''] = process.argv
  makePrivateDirectory(dirname(log))
  const descriptor = openSync(log, 'w', 0o600)
  try {
    const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
      cwd,
      detached: true,
      stdio: ['ignore', descriptor, descriptor],
      windowsHide: true,
    })
    let ended = false
    child.on('error', () => (ended = true))
    child.on('exit', () => (ended = true))
    child.unref()
    return { hasEnded: () => ended }
  } finally {
    closeSync(descriptor)
  }
}
