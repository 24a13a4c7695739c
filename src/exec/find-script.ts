import { type Dirent, readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type Diagnostic, lookProblem } from '#core/errors'
import { resolveInside, statsOf } from '#core/read-files'
import { headOf } from './process.ts'
import { resultOr } from './process-group.ts'

export interface Script {
  path: string
  relative: string
  file: string
  args: readonly string[]
}

export type ScriptSearch =
  | { kind: 'found'; script: Script }
  | { kind: 'none' }
  | { kind: 'broken'; diagnostic: Diagnostic }

/**
 * Returns the script that executes a skill: the one that its `run` field names, else the conventional
 * file `scripts/run`, `scripts/run.sh`, `.mjs`, `.js`, `.ts` or `.py`. It must be inside the skill.
 */
export function findScript(directory: string, run: string | undefined): ScriptSearch {
  if (run !== undefined) return openScript(directory, run)
  return conventionalScript(directory, 'run', 'Keep one of them, or name it in the field run.')
}

export function findVerifyScript(directory: string): ScriptSearch {
  return conventionalScript(directory, 'verify', 'Keep one of them.')
}

const extensions = ['', '.sh', '.mjs', '.js', '.ts', '.py']

function conventionalScript(directory: string, stem: string, hint: string): ScriptSearch {
  let entries: Dirent[] = []
  try {
    entries = readdirSync(join(directory, 'scripts'), { withFileTypes: true })
  } catch (error) {
    const reason = lookProblem(error)
    if (reason !== undefined) return unreadable(directory, 'scripts', reason)
  }
  const present = extensions.flatMap((extension) => {
    const entry = entries.find(({ name }) => name === `${stem}${extension}`)
    return entry && isCandidate(directory, entry) ? [`scripts/${entry.name}`] : []
  })
  const [only] = present
  if (only === undefined) return { kind: 'none' }
  if (present.length === 1) return openScript(directory, only)
  const message = `there are ${present.length} scripts that could ${stem} this skill: ${present.join(', ')}`
  return brokenScript('script-ambiguous', directory, message, hint)
}

/** A broken link counts too: opening it reports what is wrong. */
function isCandidate(directory: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile()
  return resultOr(true, () => statSync(join(directory, 'scripts', entry.name)).isFile())
}

function openScript(directory: string, relative: string): ScriptSearch {
  const resolution = resolveInside(directory, relative)
  if (!resolution.ok) {
    const isMissing = resolution.code === 'path-missing'
    const reason = isMissing ? problemIn(() => statSync(join(directory, relative))) : undefined
    if (reason !== undefined) return unreadable(directory, relative, reason)
    const code = isMissing ? 'script-missing' : 'script-outside'
    const message = `the script ${relative} cannot be used: ${resolution.message}`
    return brokenScript(code, directory, message, 'Name a file below the directory of the skill.')
  }
  const { path } = resolution
  let head = ''
  const problem = problemIn(() => (head = headOf(path).toString('latin1')))
  const executable = ((statsOf(path)?.mode ?? 0) & 0o111) !== 0
  const interpreter = interpreterFor({ path, head, executable, platform: process.platform })
  // An account may execute a program without reading it; an interpreter has to read its script.
  if (problem !== undefined && interpreter?.file !== path)
    return unreadable(directory, relative, problem)
  if (interpreter) return { kind: 'found', script: { path, relative, ...interpreter } }
  const message = `the script ${relative} does not name an interpreter`
  const hint =
    'Start it with a line such as #!/bin/sh, give it an extension (.sh .mjs .js .ts .py), or make it executable.'
  return brokenScript('script-not-executable', directory, message, hint)
}

function problemIn(look: () => unknown): string | undefined {
  try {
    look()
    return undefined
  } catch (error) {
    return lookProblem(error)
  }
}

function unreadable(directory: string, relative: string, reason: string): ScriptSearch {
  const message = `${relative} cannot be read: ${reason}`
  const hint = 'Make it readable, or fix or remove the link.'
  return brokenScript('script-unreadable', directory, message, hint)
}

function brokenScript(code: string, path: string, message: string, hint: string): ScriptSearch {
  return { kind: 'broken', diagnostic: { code, severity: 'error', message, path, hint } }
}

/**
 * Returns how to start a script, or undefined if nothing specifies that. The `#!` line comes first, with
 * or without the executable bit, then the extension, then the executable bit (a compiled program). A
 * `#!` line with `node` gets the Node that runs Skillrail, so that a script behaves the same on every
 * machine.
 * @param script `head`: its first bytes, one character per byte
 */
export function interpreterFor(script: {
  path: string
  head: string
  executable: boolean
  platform: NodeJS.Platform
}): Pick<Script, 'file' | 'args'> | undefined {
  const { path, head, executable, platform } = script
  const shebang = /^#![ \t]*(\S+)[ \t]*(.*?)[ \t\r]*(?:\n|$)/.exec(head)
  if (shebang !== null) {
    const [, program = '', argumentText = ''] = shebang
    const isEnv = baseName(program) === 'env'
    const words = isEnv
      ? envWords(program, argumentText)
      : [program, ...(argumentText === '' ? [] : [argumentText])]
    const [name = '', ...options] = words
    if (baseName(name) === 'node') return { file: process.execPath, args: [...options, path] }
    // The kernel would let `env` use the search path, which may contain folders of the project. A line
    // with a Windows line ending still goes to `env`, whose error names the problem.
    if (isEnv && name !== '' && !shebang[0].endsWith('\r\n') && platform !== 'win32')
      return { file: name, args: [...options, path] }
    if (platform === 'win32') return { file: baseName(name), args: [...options, path] }
    if (executable) return { file: path, args: [] }
    if (name !== '') return { file: name, args: [...options, path] }
  }
  const interpreter = byExtension(extname(path).toLowerCase(), platform)
  if (interpreter !== undefined) return { file: interpreter, args: [path] }
  return executable && platform !== 'win32' ? { file: path, args: [] } : undefined
}

function byExtension(extension: string, platform: NodeJS.Platform): string | undefined {
  if (extension === '.sh') return 'sh'
  if (extension === '.py') return platform === 'win32' ? 'python' : 'python3'
  return ['.mjs', '.js', '.ts'].includes(extension) ? process.execPath : undefined
}

/**
 * Splits the arguments of `env`: the kernel passes everything after the program as one argument, which
 * `env -S` splits. If `env` has other options or variables, it stays the first word.
 */
function envWords(program: string, argumentText: string): string[] {
  const words = argumentText
    .replace(/^(?:-S|--split-string=?)[ \t]*/, '')
    .split(/[ \t]+/)
    .filter((word) => word !== '')
  return /^-|=/.test(words[0] ?? '') ? [program, ...words] : words
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
