import { parseEnv } from 'node:util'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { readRegularFile } from '../../core/read-files.ts'
import type { RawServer, ServerTransport } from './model.ts'

/** Whose rules for variables hold in a file. */
export type VariableDialect =
  | 'none'
  | 'claude'
  | 'cursor'
  | 'vscode'
  | 'windsurf'
  | 'opencode'
  | 'gemini'

export interface VariableContext {
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** Real path of the workspace. */
  project: string
  /** The file in which the text stands. */
  path: string
  /** Answers of VS Code's `inputs`; undefined where there is none. */
  input(id: string): string | undefined
  /** Is told of every file that a variable reads. */
  onRead(path: string): void
}

/** What was wrong with one variable. `fatal`: without it the server cannot be started. */
interface VariableProblem {
  message: string
  hint?: string | undefined
  fatal: boolean
}

/**
 * Expands the variables of a text as their owner does: in one pass, so that a value is never looked
 * at again. An unset variable becomes what its owner makes of it, and is reported.
 */
function expandVariables(
  text: string,
  dialect: VariableDialect,
  context: VariableContext,
): { text: string; problems: readonly VariableProblem[] } {
  const rule = dialects[dialect]
  if (rule === undefined || !text.includes(rule.sign)) return { text, problems: [] }
  const problems: VariableProblem[] = []
  const expand = (whole: string, ...groups: unknown[]): string => {
    const [first, second] = groups.map((group) => (typeof group === 'string' ? group : undefined))
    const found = rule.value(first ?? '', second, context)
    if (typeof found === 'string') return found
    problems.push(found)
    return found.instead ?? whole
  }
  // Behind the last brace nothing is closed: what only begins there is not searched for an end.
  const end = text.lastIndexOf('}') + 1
  const rest = text.slice(end)
  const expanded = text.slice(0, end).replace(rule.pattern, expand)
  return {
    text: expanded + (rule.bare === undefined ? rest : rest.replace(rule.bare, expand)),
    problems,
  }
}

/** `instead`: what stands there then; the text as it was where undefined. */
type Missing = VariableProblem & { instead?: string | undefined }

interface Dialect {
  /** Without it there is nothing to expand. */
  sign: string
  pattern: RegExp
  /** The forms of `pattern` that need no brace. */
  bare?: RegExp
  value(name: string, fallback: string | undefined, context: VariableContext): string | Missing
}

const dialects: Readonly<Record<VariableDialect, Dialect | undefined>> = {
  none: undefined,
  claude: {
    sign: '${',
    pattern: /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g,
    value: (name, fallback, { env }) => variableIn(env, name) ?? fallback ?? unset(name),
  },
  gemini: {
    sign: '$',
    pattern: /\$(?:\{([A-Za-z_]\w*(?::-[^}]*)?)\}|([A-Za-z_]\w*))/g,
    bare: /\$()([A-Za-z_]\w*)/g,
    value(braced, plain, { env }) {
      const [name = '', ...rest] = (plain ?? braced).split(':-')
      const fallback = rest.length > 0 ? rest.join(':-') : undefined
      return variableIn(env, name) ?? fallback ?? unset(name)
    },
  },
  opencode: {
    sign: '{',
    pattern: /\{(env|file):([^}]+)\}/g,
    value: (kind, name = '', context) =>
      kind === 'env'
        ? (variableIn(context.env, name) ?? unset(name, ''))
        : fileContent(name, context),
  },
  cursor: { sign: '${', pattern: /\$\{([^}]+)\}/g, value: editorValue },
  windsurf: { sign: '${', pattern: /\$\{([^}]+)\}/g, value: editorValue },
  vscode: {
    sign: '${',
    pattern: /\$\{([^}]+)\}/g,
    value: (name, _, context) =>
      name.startsWith('input:')
        ? inputValue(name.slice('input:'.length), context)
        : editorValue(name, _, context),
  },
}

function editorValue(
  name: string,
  _: string | undefined,
  context: VariableContext,
): string | Missing {
  if (name.startsWith('env:')) {
    const variable = name.slice('env:'.length)
    return variableIn(context.env, variable) ?? unset(variable, '')
  }
  switch (name) {
    case 'workspaceFolder':
      return context.project
    case 'workspaceFolderBasename':
      return basename(context.project)
    case 'userHome':
      return context.home
    case 'pathSeparator':
    case '/':
      return sep
    default:
      return {
        message: `the variable \${${name}} has a meaning only inside the editor`,
        hint: 'Write the value itself, or one of ${env:NAME}, ${workspaceFolder} and ${userHome}.',
        fatal: true,
      }
  }
}

function inputValue(id: string, context: VariableContext): string | Missing {
  const value = context.input(id)
  if (value !== undefined) return value
  return {
    message: `the editor asks for the input "${id}", and the shell is not interactive`,
    hint: `Set ${inputVariable(id)} to its value.`,
    fatal: true,
  }
}

/** The value of a variable that a stranger named: `constructor` is none. */
function variableIn(env: VariableContext['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

/** The variable that stands for an answer to VS Code's `inputs`. */
export function inputVariable(id: string): string {
  return `SKILLRAIL_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`
}

const maxFileBytes = 1_048_576

function fileContent(name: string, context: VariableContext): string | Missing {
  const path = name.startsWith('~/')
    ? join(context.home, name.slice(2))
    : isAbsolute(name)
      ? name
      : resolve(dirname(context.path), name)
  context.onRead(path)
  const file = readRegularFile(path, { maxBytes: maxFileBytes })
  if (file.ok) return file.text.trim()
  return { message: `{file:${name}} cannot be read: ${file.message}`, fatal: true }
}

function unset(name: string, instead?: string): Missing {
  const stands = instead === undefined ? 'it is left as it stands' : 'it becomes empty'
  return { message: `the variable ${name} is not set; ${stands}`, fatal: false, instead }
}

interface ResolvedServer {
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
    if (file.ok) {
      return Object.fromEntries(
        Object.entries(parseEnv(file.text)).map(([key, value]) => [key, value ?? '']),
      )
    }
    problems.push({ message: `its envFile cannot be read: ${file.message}`, fatal: true })
    return {}
  }
}
