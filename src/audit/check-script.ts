import { posix } from 'node:path'
import { safeLine } from '../base/index.ts'
import type { Findings } from './_findings.ts'

/** A file and the beginning of its text; empty for a file that is no text. */
export interface ScriptCandidate {
  file: string
  head: string
  executable: boolean
}

/** Names a script, its language, and what starts it. */
export function checkScript({ file, head, executable }: ScriptCandidate, findings: Findings): void {
  const extension = posix.extname(file).slice(1).toLowerCase()
  const shebang = /^#![ \t]{0,8}([^\n\r]{1,200})/.exec(head)?.[1]?.trim()
  const known = Object.hasOwn(languages, extension) ? languages[extension] : undefined
  if (shebang === undefined && known === undefined && (!executable || prose.has(extension))) return
  const language = known ?? (shebang === undefined ? 'unknown language' : programOf(shebang))
  const start =
    shebang !== undefined
      ? `its first line starts it with ${safeLine(shebang)}`
      : executable
        ? 'its run bit is set, without a first line that says what starts it'
        : 'nothing in the file says what starts it'
  findings.add('script', { file, line: 1 }, `${safeLine(language)}: ${start}`, {
    subject: language,
  })
}

/** Whether a name promises a script. */
export function isNamedLikeScript(file: string): boolean {
  return Object.hasOwn(languages, posix.extname(file).slice(1).toLowerCase())
}

function programOf(shebang: string): string {
  const words = shebang.split(/\s+/)
  const first = posix.basename(words[0] ?? '')
  if (first !== 'env') return first
  return words.slice(1).find((word) => !word.startsWith('-') && !word.includes('=')) ?? first
}

const languages: Readonly<Record<string, string>> = {
  applescript: 'AppleScript',
  bash: 'shell',
  bat: 'batch file',
  cjs: 'JavaScript',
  cmd: 'batch file',
  cs: 'C#',
  cts: 'TypeScript',
  fish: 'fish',
  go: 'Go',
  js: 'JavaScript',
  jsx: 'JavaScript',
  kts: 'Kotlin',
  lua: 'Lua',
  mjs: 'JavaScript',
  mts: 'TypeScript',
  php: 'PHP',
  pl: 'Perl',
  ps1: 'PowerShell',
  psm1: 'PowerShell',
  py: 'Python',
  r: 'R',
  rb: 'Ruby',
  rs: 'Rust',
  sh: 'shell',
  swift: 'Swift',
  tcl: 'Tcl',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  vbs: 'VBScript',
  zsh: 'shell',
}

/** Some file systems set the run bit of every file. */
const prose: ReadonlySet<string> = new Set(
  'csv gif html jpeg jpg json jsonc lock md pdf png svg toml txt webp xml yaml yml'.split(' '),
)
