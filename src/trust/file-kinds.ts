import { posix } from 'node:path'

/** Whether a file is code, by its extension, its executable bit or its first two characters. */
export function canAct(path: string, executable: boolean, head: () => string): boolean {
  const extension = extensionOf(path)
  if (interpreters.has(extension) || loadable.has(extension)) return true
  return !prose.has(extension) && (executable || head() === '#!')
}

/** Returns the program of the first line, `python3` for `#!/usr/bin/env -S python3 -u`, else the extension's. */
export function interpreterOf(path: string, head: string): string | undefined {
  const line = /^#!\s*(\S+)(.*)/.exec(head)
  const program = line?.[1]?.split('/').at(-1)
  if (program === undefined) return interpreters.get(extensionOf(path))
  if (program !== 'env') return program
  return line?.[2]?.split(/\s+/).find((word) => word !== '' && !/^-|=/.test(word))
}

/** Whether people read, look at or listen to a file: it acts only if something names it as a program. */
export function isProse(path: string): boolean {
  return prose.has(extensionOf(path))
}

/** Returns the extension in lower case, without its dot. */
export function extensionOf(path: string): string {
  return posix.extname(path).slice(1).toLowerCase()
}

const interpreters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bash: 'bash',
    cmd: 'bat cmd',
    fish: 'fish',
    lua: 'lua',
    node: 'cjs cts js jsx mjs mts ts tsx',
    perl: 'pl',
    php: 'php',
    pwsh: 'ps1',
    python3: 'py',
    Rscript: 'r',
    ruby: 'rb',
    sh: 'sh',
    zsh: 'zsh',
  }).flatMap(([program, extensions]) =>
    extensions.split(' ').map((extension) => [extension, program] as const),
  ),
)

export const codeExtensions: readonly string[] = [...interpreters.keys()]

/** Extensions of source code in languages that have no interpreter above. */
export const sourceExtensions: readonly string[] =
  'applescript awk clj cs dart ex exs go groovy java jl ksh kts mk nu psm1 pyi pyw rs scala sql swift tcl vbs'.split(
    ' ',
  )

/** Extensions of files that another program loads and executes, or unpacks into such files. */
const loadable: ReadonlySet<string> = new Set([
  ...sourceExtensions,
  ...'7z a bin class com dll dylib egg exe gz jar msi node o pth pyc pyd pyo rar so tar tgz wasm whl xz zip'.split(
    ' ',
  ),
])

const prose: ReadonlySet<string> = new Set(
  (
    'adoc aac avif bmp flac gif heic ico jpeg jpg m4a markdown md mdx mov mp3 mp4 ogg otf pdf png rst ' +
    'svg tif tiff ttf wav webm webp woff woff2'
  ).split(' '),
)
