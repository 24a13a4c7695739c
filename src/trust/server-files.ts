import { readdirSync } from 'node:fs'
import { basename, dirname, extname, join, posix, resolve } from 'node:path'
import { isObject, parseJson } from '#core/json'
import { isInside, readRegularFile, realPathOf, statsOf } from '#core/read-files'
import { folderEntries, programName, type Runner, runnerOf } from './runners.ts'
import { canAct, codeExtensions, extensionOf } from './file-kinds.ts'
import { fileHead } from './skill-files.ts'

/** A file of the workspace that decides what a server runs. */
export interface ServerFile {
  path: string
  /** Whether the content may be kept and printed: false for files of variables. */
  isPrintable: boolean
}

/**
 * Returns the workspace files that a server configuration starts: files named by its words, files that
 * its runners read first, entries of the folders that it names, and files that a manifest among these
 * names in turn. A word counts if it leads to a file from the workspace or from a folder that another
 * word names, so this needs no knowledge of syntax or options. Imports of code are not followed.
 * @param path of the configuration, relative to the workspace.
 * @returns undefined if the configuration names too many files.
 */
export function serverFiles(
  configuration: string,
  path: string,
  workspace: string,
): ServerFile[] | undefined {
  const text = configuration.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const search = new Search(workspace, text)
  const folder = dirname(join(workspace, path))
  return search.follow([...new Set([workspace, folder])]) ? [...search.files.values()] : undefined
}

/** Names the inputs that decide what a configuration's servers run and that are not compared. */
export function notCompared(configuration: string): string[] {
  const leaves = wordsOf(configuration).flatMap((word) => runnerOf(word)?.leaves ?? [])
  return ['what the programs import', ...new Set(leaves)]
}

const maxLookups = 50_000
const maxManifestBytes = 1024 * 1024

/** Words, and the folders that the words can be relative to. */
interface Step {
  words: readonly string[]
  bases: readonly string[]
}

class Search {
  readonly files = new Map<string, ServerFile>()
  private readonly workspace: string
  /** Words of the configuration: names of scripts and programs that manifests can define. */
  private readonly words: readonly string[]
  private readonly variableFiles: ReadonlySet<string>
  private readonly runners = new Set<Runner>()
  private readonly waiting: Step[] = []
  private readonly visited = new Set<string>()
  private lookups = 0

  constructor(workspace: string, text: string) {
    this.workspace = workspace
    this.words = wordsOf(text)
    const variables = text.matchAll(/"envFile"\s*:\s*"([^"\n]*)"/g)
    this.variableFiles = new Set([...variables].map(([, file]) => posix.basename(file ?? '')))
  }

  /** Returns false if the search needs too many lookups. */
  follow(bases: readonly string[]): boolean {
    this.waiting.push({ words: this.words, bases })
    for (let step = this.waiting.pop(); step; step = this.waiting.pop()) {
      if (!this.look(step)) return false
    }
    return true
  }

  private look({ words, bases }: Step): boolean {
    this.lookups += words.length
    if (this.lookups > maxLookups) return false
    const places = words.map((word) => resolve(bases[0] ?? this.workspace, word))
    const modules = words.filter(isModule).map((word) => resolve(this.workspace, modulePath(word)))
    const candidates = [...new Set([...places, ...modules])]
    const namedFolders = candidates.filter((place) => this.isFolder(place))
    const folders = [...new Set([...bases, ...namedFolders])]
    this.lookups += words.length * folders.length
    if (this.lookups > maxLookups) return false
    for (const word of words) {
      const runner = runnerOf(word)
      if (runner) this.runners.add(runner)
    }
    for (const folder of folders) {
      for (const word of words) for (const file of filesOf(folder, word)) this.take(file)
      for (const folderAbove of this.upTo(folder)) {
        for (const runner of this.runners) this.readFirst(runner, folderAbove, words)
      }
    }
    for (const folder of namedFolders) {
      for (const entry of folderEntries) this.takeManifest(join(folder, entry), true)
    }
    return true
  }

  private isFolder(place: string): boolean {
    return isInside(this.workspace, place) && statsOf(place)?.isDirectory() === true
  }

  private upTo(folder: string): string[] {
    const parent = dirname(folder)
    const isLast = folder === this.workspace || !isInside(this.workspace, parent)
    return isLast ? [folder] : [folder, ...this.upTo(parent)]
  }

  private readFirst({ reads, finds = [] }: Runner, folder: string, words: readonly string[]): void {
    this.lookups += reads.length
    for (const name of reads) {
      const names = name.startsWith('*') ? namesWith(folder, name.slice(1)) : [name]
      for (const one of names) this.takeManifest(join(folder, one))
    }
    for (const place of finds) {
      if (!statsOf(join(folder, place))?.isDirectory()) continue
      this.lookups += words.length
      for (const word of words.filter(isName)) {
        // A package is compared by its manifest and the manifest's entry file.
        this.take(join(folder, place, word))
        this.takeManifest(join(folder, place, word, 'package.json'), true)
      }
    }
  }

  /** Takes a file that a word names, if the file is code, has no extension, or is a manifest. */
  private take(file: string): void {
    const stats = statsOf(file)
    if (!stats?.isFile()) return
    const place = isInside(this.workspace, file) ? file : (realPathOf(file) ?? file)
    if (!isInside(this.workspace, place)) return
    const isCode = canAct(place, (stats.mode & 0o111) !== 0, () => fileHead(place, 2))
    const isVariables = this.variableFiles.has(basename(place))
    if (!isCode && !isVariables && manifestExtensions.has(extensionOf(place)))
      this.takeManifest(place)
    else if (isCode || isVariables || extname(place) === '') this.add(place, isCode)
  }

  /** @param isEntry whether the manifest's folder is started, not only a name in the manifest. */
  private takeManifest(file: string, isEntry = false): void {
    const stats = statsOf(file)
    if (!stats?.isFile() || !isInside(this.workspace, file)) return
    const isCode = canAct(file, false, () => fileHead(file, 2))
    this.add(file, !basename(file).startsWith('.env'))
    const key = `${file}\0${isEntry}`
    if (isCode || this.visited.has(key)) return
    this.visited.add(key)
    const reading = readRegularFile(file, { maxBytes: maxManifestBytes })
    if (!reading.ok) return
    const isPackage = basename(file) === 'package.json'
    const words = isPackage
      ? packageWords(reading.text, this.words, isEntry)
      : wordsOf(reading.text)
    this.waiting.push({ words, bases: [dirname(file)] })
  }

  private add(path: string, isPrintable: boolean): void {
    const wasPrintable = this.files.get(path)?.isPrintable ?? true
    this.files.set(path, { path, isPrintable: isPrintable && wasPrintable })
  }
}

const manifestExtensions: ReadonlySet<string> = new Set('just make toml yaml yml'.split(' '))

/** Returns quoted texts and the words between blanks and signs, each also as a path below its folder. */
function wordsOf(text: string): string[] {
  const quotedTexts = [...text.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map(
    ([, one, other]) => one ?? other,
  )
  const words = [...quotedTexts, ...text.split(/[\s"'`,=;:|&<>()[\]{}]+/)]
  // The split leaves `/server.js` of `${workspaceFolder}/server.js`.
  const withoutVariables = words.map((word = '') => word.replace(/^\$\{[^}]*\}/, ''))
  // A blank or a slash between two words names no folder.
  const usable = withoutVariables.filter((word) => !/^\/*$/.test(word))
  return [...new Set(usable.flatMap((word) => [word, word.replace(/^\/*/, './')]))]
}

/**
 * Returns the words of everything that a `package.json` starts: scripts that a word names, with their
 * `pre` and `post` scripts and the scripts they name, programs that a word names, and the package's
 * entry files if the package itself is started.
 */
function packageWords(text: string, words: readonly string[], isEntry: boolean): string[] {
  const value = parseJson(text)
  if (!isObject(value)) return wordsOf(text)
  const { scripts, bin, name, main, module, exports, imports, browser } = value
  const scriptNames = [...words]
  const scriptLines = new Map(isObject(scripts) ? Object.entries(scripts) : [])
  const entries: unknown[] = isEntry ? [main ?? 'index.js', module, exports, imports, browser] : []
  if (typeof bin === 'string' && (isEntry || (typeof name === 'string' && isNamedByWord(name))))
    entries.push(bin)
  if (isObject(bin)) {
    for (const [program, file] of Object.entries(bin))
      if (isEntry || isNamedByWord(program)) entries.push(file)
  }
  // `npm start` runs this if no script is named `start`.
  if (words.includes('start') && !scriptLines.has('start')) entries.push('node server.js')
  for (const word of scriptNames) {
    for (const script of [`pre${word}`, word, `post${word}`]) {
      const line = scriptLines.get(script)
      if (typeof line !== 'string') continue
      scriptLines.delete(script)
      entries.push(line)
      scriptNames.push(...wordsOf(line))
    }
  }
  return wordsOf(JSON.stringify(entries))

  function isNamedByWord(program: string): boolean {
    return words.some((word) => word === program || word === posix.basename(program))
  }
}

/** Returns the files that a word can name: `tools/server.js`, `tools/server`, or the module `tools.server`. */
function filesOf(base: string, word: string): string[] {
  const isFile = (path: string) => statsOf(path)?.isFile() === true
  const path = resolve(base, word)
  if (isFile(path)) return [path]
  if (!isModule(word)) return []
  const stems = [path, resolve(base, modulePath(word))]
  return stems.flatMap((stem) => codeExtensions.map((end) => `${stem}.${end}`)).filter(isFile)
}

function isModule(word: string): boolean {
  return /[./]\w/.test(word)
}

function modulePath(word: string): string {
  return word.replaceAll('.', '/')
}

/** Whether a word is the name of a program or package, with or without a version: `@scope/name@1`. */
function isName(word: string): boolean {
  return /^@?\w[\w.-]*(?:\/[\w.-]+)?$/.test(word) && programName(word) !== ''
}

function namesWith(folder: string, end: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(end))
  } catch {
    return []
  }
}
