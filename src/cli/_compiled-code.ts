import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { constants, Script } from 'node:vm'
import {
  digestOf,
  openSha256,
  type Runtime,
  userDirectories,
  writeFileAtomicSync,
} from '../base/index.ts'

/**
 * Keeps what V8 has compiled when a command ends, for the next start of that command. The compile
 * cache of Node has only what is compiled while a file is loaded; the many functions that a run
 * calls later would be compiled at every start, a twentieth of the CPU of a chain.
 *
 * Such code is not checked when it is loaded. So it lies among the user's own files (0600 in a 0700
 * directory), and it counts only where it is whole and was made from the same text by the same Node.
 *
 * @returns what is to be called when the command has done its work.
 */
export function keepCompiledCode(runtime: Pick<Runtime, 'env' | 'home'>): () => void {
  const unknown: { script: Script; source: Buffer; kept: string }[] = []
  if (runtime.env['NODE_DISABLE_COMPILE_CACHE']) return () => undefined
  const version = `${process.version}-${process.arch}`
  const directory = join(userDirectories(runtime).cache, 'compiled', version)
  const { extensions } = createRequire(process.execPath)
  let own: string | undefined
  // Every file of a build has this ending, and the first to be loaded is one of them.
  extensions['.cjs'] = (module, filename) => {
    own ??= dirname(filename)
    if (dirname(filename) !== own) {
      extensions['.js']?.(module, filename)
      return
    }
    const source = readFileSync(filename)
    const kept = join(directory, `${basename(filename)}.bin`)
    const script = new Script(
      `(function (exports, require, module, __filename) {${source.toString()}\n})`,
      {
        filename,
        cachedData: readKept(kept, source),
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      },
    )
    if (script.cachedDataRejected !== false) unknown.push({ script, source, kept })
    const body: unknown = script.runInThisContext()
    if (typeof body !== 'function') throw new TypeError(`${filename} is no module`)
    const { exports } = module
    Reflect.apply(body, exports, [exports, createRequire(filename), module, filename])
  }
  return () => {
    for (const { script, source, kept } of unknown) writeKept(kept, source, script)
  }
}

/** `sha256:` and 64 digits, of the text and the code together. */
const digestLength = 71

function readKept(path: string, source: Buffer): Buffer | undefined {
  const bytes = readOwn(path)
  if (bytes === undefined) return undefined
  const code = bytes.subarray(digestLength)
  return bytes.toString('latin1', 0, digestLength) === digestOfBoth(source, code) ? code : undefined
}

/** A file of somebody else is none of ours, as when `sudo` left the home directory what it was. */
function readOwn(path: string): Buffer | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, 'r')
    const isOwn = process.getuid === undefined || fstatSync(descriptor).uid === process.getuid()
    return isOwn ? readFileSync(descriptor) : undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function writeKept(path: string, source: Buffer, script: Script): void {
  const code = script.createCachedData()
  const head = Buffer.from(digestOfBoth(source, code), 'latin1')
  try {
    writeFileAtomicSync(path, Buffer.concat([head, code]), { mode: 0o600 })
  } catch {
    // A full disk or a home that is read-only: the next start compiles again.
  }
}

function digestOfBoth(source: Buffer, code: Buffer): string {
  return digestOf(openSha256().update(source).update(code))
}
