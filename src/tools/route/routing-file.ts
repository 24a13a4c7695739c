import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile } from '../../core/read-files.ts'
import { writeFileAtomicSync } from '../../core/write-files.ts'
import { readStrings } from '../cache/cache-file.ts'
import { type ProjectPlace, toolsDirectory } from '../cache/places.ts'
import { fieldWeights } from './weights.ts'
import type { GatheredTools, RoutedTool, RoutedTools } from './routed-tool.ts'
import { keptWords, readKeptWords } from './kept-words.ts'

/** A file that something was made from, and what it was like then. */
export type Source = readonly [path: string, stamp: string]

/** What routing needs of a project: made once from its tool cache, then read by every command. */
export interface RoutingFile {
  sources: readonly Source[]
  /** Everything besides the tools and their words; a JSON value. */
  facts: unknown
  routed: RoutedTools
}

/**
 * To be counted up whenever words are gathered, kept or stemmed in another way; an update of the
 * program makes every file anew in any case.
 */
const formatName = 'skillrail-routing-2'
const maxBytes = 64 * 1024 * 1024

function routingPath(place: ProjectPlace): string {
  return join(toolsDirectory(place), 'routing.txt')
}

/**
 * Line 1 names the format and the length of the rest, line 2 the sources, line 3 the facts,
 * line 4 the lengths of the fields, line 5 the tools, line 6 the words.
 */
export function writeRoutingFile(
  { sources, facts, routed }: RoutingFile & { routed: GatheredTools },
  place: ProjectPlace,
): void {
  const tools = routed.tools.map((tool) => {
    const { id, server, name, category = null, hasExamples } = tool
    const words = tool.nameWords().join(' ')
    return [id, server, name, category, hasExamples ? 1 : 0, words, tool.inputs()]
  })
  const lengths = Array.from(routed.words.lengths)
  const rest = [[...sources, programSource()], facts, lengths, tools, keptWords(routed.words)]
    .map((line) => JSON.stringify(line))
    .join('\n')
  const text = `${formatName} ${rest.length}\n${rest}`
  writeFileAtomicSync(routingPath(place), text, { mode: 0o600 })
}

/** The file, unless it is missing, damaged, of another program or older than one of its sources. */
export function readRoutingFile(place: ProjectPlace): RoutingFile | undefined {
  const file = readRegularFile(routingPath(place), { maxBytes })
  if (!file.ok) return undefined
  const { text } = file
  const headEnd = text.indexOf('\n')
  const [format, length] = text.slice(0, Math.max(0, headEnd)).split(' ')
  if (format !== formatName || length !== String(text.length - headEnd - 1)) return undefined
  const [sourceLine = '', factsLine = '', lengthsLine = '', toolsLine = '', words = ''] = text
    .slice(headEnd + 1)
    .split('\n')
  try {
    const sources = readSources(JSON.parse(sourceLine))
    const program = sources.pop()
    if (program === undefined || program.join() !== programSource().join()) return undefined
    if (sources.some(([path, stamp]) => stampOf(path) !== stamp)) return undefined
    const tools = readTools(JSON.parse(toolsLine))
    const lengths = readLengths(JSON.parse(lengthsLine))
    if (lengths.length !== tools.length * fieldWeights.length) return undefined
    return {
      sources,
      facts: JSON.parse(factsLine),
      routed: { tools, words: readKeptWords(JSON.parse(words), tools.length, lengths) },
    }
  } catch {
    return undefined
  }
}

/** Tells one state of a file from another, however short the time between them; empty for none to be seen. */
export function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path)
    return [ino, size, mtimeMs, ctimeMs].join(' ')
  } catch {
    return ''
  }
}

/** This file, or the one that it was joined to: an update of the program replaces it. */
function programSource(): Source {
  const path = import.meta.filename
  return [path, stampOf(path)]
}

function readSources(value: unknown): Source[] {
  if (!Array.isArray(value)) return []
  return value.map((item: unknown) => {
    const [path = '', stamp = ''] = readStrings(item)
    return [path, stamp]
  })
}

function readLengths(value: unknown): Float64Array {
  const numbers = Array.isArray(value) ? value.map(Number) : []
  return Float64Array.from(numbers)
}

function readTools(value: unknown): RoutedTool[] {
  if (!Array.isArray(value)) return []
  return value.map((item: unknown) => {
    const row: readonly unknown[] = Array.isArray(item) ? item : []
    const category = row[3]
    return {
      id: String(row[0]),
      server: String(row[1]),
      name: String(row[2]),
      category: typeof category === 'string' ? category : undefined,
      hasExamples: row[4] === 1,
      nameWords: () => (row[5] === '' ? [] : String(row[5]).split(' ')),
      inputs: () => String(row[6]),
    }
  })
}
