import { existsSync } from 'node:fs'
import { type LauncherProcess, startLauncher } from './_launcher-process.ts'
import { type ProcessRequest, type RunProcess, runProcess } from './process.ts'

/** Runs programs one after the other more cheaply than `runProcess`, and with the same results. */
export interface Launcher {
  run: RunProcess
  /** Resolves when the process behind it, if there was one, has ended. */
  close(): Promise<void>
}

/**
 * Starts programs through one small process, kept for all of them, where the machine has what it
 * needs; elsewhere, for a second program at the same time, and for what it has no words for, directly.
 *
 * @param perl the interpreter of the launcher, by its absolute path.
 * @param quick whether short programs are waited for on pipes of its own, where the system has a way
 * to open them.
 */
export function openLauncher(perl: string = systemPerl, quick = true): Launcher {
  let starting: Promise<LauncherProcess | undefined> | undefined
  let busy = false
  return {
    async run(request) {
      if (busy || !isSuited(request)) return await runProcess(request)
      busy = true
      try {
        starting ??= existsSync(perl) ? startLauncher(perl, quick) : Promise.resolve(undefined)
        const launcher = await starting
        const usable = launcher?.alive() === true && request.signal?.aborted !== true
        return await (usable ? launcher : { run: runProcess }).run(request)
      } finally {
        busy = false
      }
    },
    async close() {
      await (await starting)?.close()
    },
  }
}

/** Never one from the search path: that may be a wrapper that is slow to start. */
const systemPerl = '/usr/bin/perl'

/**
 * It takes only files as input, and has neither our directory nor descriptors beyond the usual three.
 * A NUL, which no program can be given, separates the fields of its messages.
 */
function isSuited({ stdin, file, args, cwd, env, descriptors }: ProcessRequest): boolean {
  if (process.platform === 'win32' || typeof stdin === 'string' || descriptors !== undefined) {
    return false
  }
  const paths = stdin === undefined ? [cwd] : [cwd, stdin.file]
  const given = [file, ...paths, ...args, ...Object.entries(env).flat()]
  return (
    file !== '' &&
    paths.every((path) => path.startsWith('/')) &&
    !given.some((text) => text.includes('\0'))
  )
}
