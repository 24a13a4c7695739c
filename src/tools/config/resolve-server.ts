import { isAbsolute, join, resolve } from 'node:path'
import { readRegularFile } from '../../core/read-files.ts'
import type { RawServer, ServerTransport } from './model.ts'
import {
  expandVariables,
  type VariableContext,
  variableIn,
  type VariableDialect,
  type VariableProblem,
} from './variables.ts'

export interface ResolvedServer {
  transport: ServerTransport
  problems: readonly VariableProblem[]
}

/** Expands the variables of an entry and puts its parts together as they are used. */
export function resolveServer(
  raw: RawServer,
  dialect: VariableDialect,
  context: VariableContext,
): ResolvedServer {
  const problems: VariableProblem[] = []
  const expand = (text: string): string => {
    const expanded = expandVariables(text, dialect, context)
    for (const problem of expanded.problems) problems.push(problem)
    return expanded.text
  }
  const expandAll = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, expand(value)]))

  if (raw.transport === 'stdio') {
    const fromFile = raw.envFile === undefined ? {} : readEnvFile(expand(raw.envFile))
    const env = { ...fromFile, ...passedOn(), ...expandAll(raw.env) }
    const cwd = raw.cwd === undefined ? undefined : directory(expand(raw.cwd))
    const command = expand(raw.command ?? '')
    return { transport: { kind: 'stdio', command, args: raw.args.map(expand), env, cwd }, problems }
  }
  const url = checkedUrl(expand(raw.url ?? ''))
  const headers = { ...expandAll(raw.headers), ...headersFromEnv() }
  return { transport: { kind: raw.transport, url, headers }, problems }

  function passedOn(): Record<string, string> {
    return Object.fromEntries(
      raw.envNames.flatMap((name) => {
        const value = variableIn(context.env, name)
        return value === undefined ? [] : [[name, value]]
      }),
    )
  }

  function headersFromEnv(): Record<string, string> {
    const headers: Record<string, string> = {}
    for (const [name, variable] of Object.entries(raw.envHeaders)) {
      const value = variableIn(context.env, variable)
      if (value !== undefined) headers[name] = value
      else
        problems.push({
          message: `the variable ${variable} for the header ${name} is not set; the header is left out`,
          fatal: false,
        })
    }
    if (raw.tokenName === undefined) return headers
    const token = variableIn(context.env, raw.tokenName)
    if (token) return { ...headers, Authorization: `Bearer ${token}` }
    problems.push({
      message: `the variable ${raw.tokenName}, which holds its token, is not set`,
      hint: `Set ${raw.tokenName} where Skillrail runs.`,
      fatal: true,
    })
    return headers
  }

  function checkedUrl(url: string): string {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
      problems.push({
        message: `"${url}" is not an address that begins with http:// or https://`,
        fatal: true,
      })
    }
    return url
  }

  function directory(path: string): string {
    if (path === '~' || path.startsWith('~/')) return join(context.home, path.slice(1))
    return isAbsolute(path) ? path : resolve(context.project, path)
  }

  function readEnvFile(name: string): Record<string, string> {
    const path = directory(name)
    context.onRead(path)
    const file = readRegularFile(path, { maxBytes: 1_048_576 })
    if (file.ok) return parseEnvFile(file.text)
    problems.push({ message: `its envFile cannot be read: ${file.message}`, fatal: true })
    return {}
  }
}

/** `NAME=value` a line, as editors read it: comments, `export`, quotes around a value. */
function parseEnvFile(text: string): Record<string, string> {
  const entries = text.split(/\r?\n/).flatMap((line) => {
    const match = /^\s*(?:export\s+)?([\w.-]+)\s*=(.*)$/.exec(line)
    if (match === null) return []
    const [, name = '', written = ''] = match
    const value = written.trim()
    const quoted = /^(["'])(.*)\1$/.exec(value)
    return [[name, quoted?.[2] ?? value] as const]
  })
  return Object.fromEntries(entries)
}
