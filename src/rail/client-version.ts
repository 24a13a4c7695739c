import { readFileSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { type ClientProcess, clientOfPackage } from '#core/agent-ancestry'
import { objectOf, parseJson } from '#core/json'
import { bytesOf, readRegularFile, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { adapters, type Platform } from '#hooks/adapters'

interface ClientTraces {
  env: Runtime['env']
  transcript: string | undefined
  clientProcess: ClientProcess | undefined
}

/**
 * Returns the version of the client that calls the hook: from its variables, from the first lines of its
 * transcript, or from its npm package. Undefined if none of them says it. Never throws.
 */
export function clientVersion(platform: Platform, traces: ClientTraces): string | undefined {
  const { env, transcript, clientProcess } = traces
  const version =
    versionInVariables(platform, env) ??
    (transcript === undefined ? undefined : versionInTranscript(transcript)) ??
    (clientProcess && versionOfPackage(platform, clientProcess))
  return version !== undefined && isVersion.test(version) ? version : undefined
}

const isVersion = /^\d+(?:\.\d+)+(?:[-+][\w.+-]{1,40})?$/

/** Only Claude Code names its version in the environment of its hooks. */
function versionInVariables(platform: Platform, env: Runtime['env']): string | undefined {
  if (platform !== 'claude') return undefined
  const [, version] = /^claude-code_(\d+(?:-\d+)+)_/.exec(env['AI_AGENT'] ?? '') ?? []
  return version?.replaceAll('-', '.')
}

/** The first line of Codex has its instructions too. */
const maxHeadBytes = 256 * 1024

/** Rows of Claude Code have a version; the first one of Codex has it in its payload. */
function versionInTranscript(path: string): string | undefined {
  try {
    const head = bytesOf(path, maxHeadBytes).toString()
    const rows = head.split('\n').map((line) => objectOf(parseJson(line)))
    return rows
      .flatMap((row) => [row['version'], objectOf(row['payload'])['cli_version']])
      .find((version) => typeof version === 'string')
  } catch {
    return undefined
  }
}

/** The package that contains the program of a process, or the script that the program runs. */
function versionOfPackage(platform: Platform, { pid }: ClientProcess): string | undefined {
  for (const path of programsOf(pid)) {
    const manifest = manifestAbove(path)
    const { name, version } = objectOf(manifest)
    if (typeof name !== 'string' || typeof version !== 'string') continue
    // A package for one system repeats the system in its version.
    if (clientOfPackage(name) === adapters[platform].title) {
      return version.replace(/-(?:linux|darwin|win32)-\w+$/, '')
    }
  }
  return undefined
}

/** Empty where the system has no such files. */
function programsOf(pid: number): string[] {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(isAbsolute)
    return [readlinkSync(`/proc/${pid}/exe`), ...words].flatMap((path) => realPathOf(path) ?? [])
  } catch {
    return []
  }
}

function manifestAbove(path: string): unknown {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const reading = readRegularFile(join(directory, 'package.json'), { maxBytes: 1024 * 1024 })
    // A folder of a package can have a manifest that only says how its files are loaded.
    const manifest = reading.ok ? parseJson(reading.text) : undefined
    if (objectOf(manifest)['version'] !== undefined) return manifest
    if (dirname(directory) === directory) return undefined
  }
}
