import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { readRegularFile } from '../../core/read-files.ts'

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
export interface VariableProblem {
  message: string
  hint?: string | undefined
  fatal: boolean
}

/**
 * Expands the variables of a text as their owner does: in one pass, so that a value is never looked
 * at again. An unset variable becomes what its owner makes of it, and is reported.
 */
export function expandVariables(
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
export function variableIn(env: VariableContext['env'], name: string): string | undefined {
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
