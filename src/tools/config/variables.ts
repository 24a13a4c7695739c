import { parseEnv } from 'node:util'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { isObject } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import type { JsonObject } from '../model.ts'
import type { RawServer, ServerClient, ServerTransport } from './model.ts'

export interface VariableContext {
  /** The client whose rules apply; undefined: nothing is expanded. */
  client: ServerClient | undefined
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** Real path of the workspace. */
  project: string
  /** The file in which the text stands. */
  path: string
  /** Its content: VS Code's `inputs` are in it. */
  root: JsonObject
  /** Gets the path of every file that a variable reads. */
  onRead(path: string): void
}

/** What is wrong with a variable. `fatal`: without it the server cannot be started. */
interface VariableProblem {
  message: string
  hint?: string | undefined
  fatal: boolean
}

/** `instead`: the value that is used; undefined: the text stays as it is. */
type Missing = VariableProblem & { instead?: string | undefined }

const editor = /\$\{(?:(?<kind>env|input):)?(?<name>[^}]+)\}/g

/** How clients write variables. Those that are missing have none. */
const patterns: Readonly<Partial<Record<ServerClient, RegExp>>> = {
  'claude-code': /\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}/g,
  gemini: /\$(?:\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}|(?<bare>[A-Za-z_]\w*))/g,
  opencode: /\{(?<kind>env|file):(?<name>[^}]+)\}/g,
  cursor: editor,
  windsurf: editor,
  vscode: editor,
}
const withoutBrace = /\$(?<bare>[A-Za-z_]\w*)/g

function valueOf(
  written: string,
  groups: Partial<Record<'kind' | 'name' | 'bare' | 'fallback', string>>,
  context: VariableContext,
): string | Missing {
  const { client, env, home, project } = context
  const { kind, name = groups.bare ?? '', fallback } = groups
  if (kind === 'file') return content(name, context)
  if (kind === 'env') return variableIn(env, name) ?? unset(name, '')
  if (kind === 'input' && client === 'vscode') return inputValue(name, context)
  if (client === 'claude-code' || client === 'gemini') {
    return variableIn(env, name) ?? fallback ?? unset(name)
  }
  switch (kind ?? name) {
    case 'workspaceFolder':
      return project
    case 'workspaceFolderBasename':
      return basename(project)
    case 'userHome':
      return home
    case 'pathSeparator':
    case '/':
      return sep
    default:
      return {
        message: `the variable ${written} has a meaning only inside the editor`,
        hint: 'Write the value itself, or one of ${env:NAME}, ${workspaceFolder} and ${userHome}.',
        fatal: true,
      }
  }
}

/** VS Code asks for an input: a variable answers instead, or the input's default. */
function inputValue(id: string, { env, root }: VariableContext): string | Missing {
  const variable = `SKILLRAIL_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`
  const inputs: unknown[] = Array.isArray(root['inputs']) ? root['inputs'] : []
  const input = inputs.filter((item) => isObject(item)).find((item) => item['id'] === id)
  const preset = input?.['default']
  const value = env[variable] ?? (typeof preset === 'string' && preset ? preset : undefined)
  return (
    value ?? {
      message: `the editor asks for the input "${id}", and the shell is not interactive`,
      hint: `Set ${variable} to its value.`,
      fatal: true,
    }
  )
}

/** The value of a variable that a stranger named: `constructor` is not one. */
function variableIn(env: VariableContext['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

const maxFileBytes = 1_048_576

function content(name: string, { home, path, onRead }: VariableContext): string | Missing {
  const file = resolve(dirname(path), name.startsWith('~/') ? join(home, name.slice(2)) : name)
  onRead(file)
  const reading = readRegularFile(file, { maxBytes: maxFileBytes })
  if (reading.ok) return reading.text.trim()
  return { message: `{file:${name}} cannot be read: ${reading.message}`, fatal: true }
}

function unset(name: string, instead?: string): Missing {
  const result = instead === undefined ? 'it is left as it stands' : 'it becomes empty'
  return { message: `the variable ${name} is not set; ${result}`, fatal: false, instead }
}

/**
 * Expands the variables of an entry as their client does, and returns how its server is reached. Text
 * is expanded in one pass: a value is never expanded again.
 */
export function resolveServer(
  raw: RawServer,
  context: VariableContext,
): { transport: ServerTransport; problems: readonly VariableProblem[] } {
  const { client, env, home, project } = context
  const pattern = client && patterns[client]
  const problems: VariableProblem[] = []
  const expand = (text: string): string => {
    if (pattern === undefined) return text
    const expanded = (written: string, ...match: unknown[]): string => {
      const value = valueOf(written, Object(match.at(-1)), context)
      if (typeof value === 'string') return value
      problems.push(value)
      return value.instead ?? written
    }
    // Behind the last brace nothing is closed: what only begins there is not searched for an end.
    const end = text.lastIndexOf('}') + 1
    const rest = text.slice(end)
    const last = client === 'gemini' ? rest.replace(withoutBrace, expanded) : rest
    return text.slice(0, end).replace(pattern, expanded) + last
  }
  const expandAll = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, expand(value)]))
  const inProject = (path: string): string =>
    resolve(project, path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path)

  if (raw.transport === 'stdio') {
    const fromFile = raw.envFile === undefined ? {} : envFile(inProject(expand(raw.envFile)))
    const passed = raw.envNames.flatMap((name) => {
      const value = variableIn(env, name)
      return value === undefined ? [] : [[name, value]]
    })
    const own = { ...fromFile, ...Object.fromEntries(passed), ...expandAll(raw.env) }
    const cwd = raw.cwd === undefined ? undefined : inProject(expand(raw.cwd))
    const command = expand(raw.command ?? '')
    const args = raw.args.map(expand)
    return { transport: { kind: 'stdio', command, args, env: own, cwd }, problems }
  }
  const url = expand(raw.url ?? '')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    const message = `"${url}" is not an address that begins with http:// or https://`
    problems.push({ message, fatal: true })
  }
  const headers = { ...expandAll(raw.headers), ...headersFromEnv() }
  return { transport: { kind: raw.transport, url, headers }, problems }

  function headersFromEnv(): Record<string, string> {
    const found: Record<string, string> = {}
    for (const [name, variable] of Object.entries(raw.envHeaders)) {
      const value = variableIn(env, variable)
      const message = `the variable ${variable} for the header ${name} is not set; the header is left out`
      if (value === undefined) problems.push({ message, fatal: false })
      else found[name] = value
    }
    if (raw.tokenName === undefined) return found
    const token = variableIn(env, raw.tokenName)
    if (token) return { ...found, Authorization: `Bearer ${token}` }
    problems.push({
      message: `the variable ${raw.tokenName}, which holds its token, is not set`,
      hint: `Set ${raw.tokenName} where Skillrail runs.`,
      fatal: true,
    })
    return found
  }

  function envFile(path: string): NodeJS.Dict<string> {
    context.onRead(path)
    const file = readRegularFile(path, { maxBytes: maxFileBytes })
    if (file.ok) return parseEnv(file.text)
    problems.push({ message: `its envFile cannot be read: ${file.message}`, fatal: true })
    return {}
  }
}
