import { extname } from 'node:path'

export interface ScriptFile {
  path: string
  /** The first bytes of the file, for its `#!` line. */
  head: string
  executable: boolean
  platform: NodeJS.Platform
}

/**
 * How to start a script, or undefined when nothing says so. The `#!` line decides, with or without
 * the run bit; one that asks for `node` gets the Node that runs us, so that a script means the same
 * on every machine. Then the extension; then the run bit (a compiled program).
 */
export function interpreterFor(
  script: ScriptFile,
): { file: string; args: readonly string[] } | undefined {
  const { path, head, executable, platform } = script
  const shebang = /^#![ \t]*(\S+)[ \t]*(.*?)[ \t\r]*(?:\n|$)/.exec(head)
  const extension = extname(path).toLowerCase()
  if (shebang !== null) {
    const [, program = '', rest = ''] = shebang
    const words = isEnv(program) ? envWords(rest) : [program, ...(rest === '' ? [] : [rest])]
    const [name = '', ...options] = words
    if (baseName(name) === 'node') return { file: process.execPath, args: [...options, path] }
    if (platform === 'win32') return { file: baseName(name), args: [...options, path] }
    if (executable) return { file: path, args: [] }
    if (name !== '') return { file: name, args: [...options, path] }
  }
  const known = byExtension(extension, platform)
  if (known !== undefined) return { file: known, args: [path] }
  return executable && platform !== 'win32' ? { file: path, args: [] } : undefined
}

function byExtension(extension: string, platform: NodeJS.Platform): string | undefined {
  switch (extension) {
    case '.sh':
      return 'sh'
    case '.mjs':
    case '.js':
    case '.ts':
      return process.execPath
    case '.py':
      return platform === 'win32' ? 'python' : 'python3'
    default:
      return undefined
  }
}

function isEnv(program: string): boolean {
  return baseName(program) === 'env'
}

/** `env -S` splits its one argument, as the kernel passes everything after the program in one. */
function envWords(rest: string): string[] {
  const words = rest.split(/[ \t]+/).filter((word) => word !== '')
  return words[0] === '-S' ? words.slice(1) : words
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
