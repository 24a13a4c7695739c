import { posix } from 'node:path'

/**
 * Whether a file is code: by its extension, its executable bit or, asked last, its first two
 * characters. Prose and pictures are not, since some file systems make every file executable.
 */
export function canAct(path: string, executable: boolean, head: () => string): boolean {
  const extension = extensionOf(path)
  if (interpreters.has(extension) || loadable.has(extension)) return true
  return !prose.has(extension) && (executable || head() === '#!')
}

/** `python3` for `#!/usr/bin/env -S python3 -u`; else what the extension stands for, if anything. */
export function interpreterOf(path: string, head: string): string | undefined {
  const line = /^#!\s*(\S+)(.*)/.exec(head)
  const program = line?.[1]?.split('/').at(-1)
  if (program === undefined) return interpreters.get(extensionOf(path))
  if (program !== 'env') return program
  return line?.[2]?.split(/\s+/).find((word) => word !== '' && !/^-|=/.test(word))
}

function extensionOf(path: string): string {
  return posix.extname(path).slice(1).toLowerCase()
}

const interpreters: ReadonlyMap<string, string> = new Map([
  ['bash', 'bash'],
  ['bat', 'cmd'],
  ['cjs', 'node'],
  ['cmd', 'cmd'],
  ['cts', 'node'],
  ['fish', 'fish'],
  ['js', 'node'],
  ['jsx', 'node'],
  ['lua', 'lua'],
  ['mjs', 'node'],
  ['mts', 'node'],
  ['php', 'php'],
  ['pl', 'perl'],
  ['ps1', 'pwsh'],
  ['py', 'python3'],
  ['r', 'Rscript'],
  ['rb', 'ruby'],
  ['sh', 'sh'],
  ['ts', 'node'],
  ['tsx', 'node'],
  ['zsh', 'zsh'],
])

/** Files that another program loads and executes, or unpacks into such files. */
const loadable: ReadonlySet<string> = new Set(
  (
    '7z a bin class com dll dylib egg exe gz jar msi node o pth pyc pyd pyo rar so tar tgz wasm ' +
    'whl xz zip applescript awk clj cs dart ex exs go groovy java jl ksh kts mk nu psm1 pyi pyw ' +
    'rs scala sql swift tcl vbs'
  ).split(' '),
)

/** Acts only below `scripts/` or where `run` or a hook names it. */
const prose: ReadonlySet<string> = new Set(['gif', 'jpeg', 'jpg', 'md', 'pdf', 'png', 'svg'])
