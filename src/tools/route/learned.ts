import { join } from 'node:path'
import { compareText, type Diagnostic } from '../../core/diagnostic.ts'
import { StateFileError } from '../../core/errors.ts'
import { withFileLock } from '../../core/file-lock.ts'
import { isObject } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { redactText } from '../../core/redact.ts'
import { userDirectories } from '../../core/runtime.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import { fileName, type ProjectPlace, realProject } from '../cache/stored-tools.ts'
import type { RouteExample } from './route.ts'

/** A request that was once confirmed, or corrected, for a tool. */
export interface LearnedExample {
  /** Secrets masked, on one line, at most {@link longestRequest} characters. */
  request: string
  /** Id of the tool. */
  tool: string
  /** The tool was wrong for the request. */
  wrong: boolean
  /** How often it was said. */
  count: number
  /** When it was last said, as an ISO date. */
  at: string
}

interface LearnedReading {
  examples: readonly LearnedExample[]
  diagnostics: readonly Diagnostic[]
}

export const longestRequest = 300
/** Beyond these the ones that weigh least are forgotten. */
export const mostExamples = { ofTool: 20, ofProject: 1_000 } as const

/** After so long an example counts half. */
const halfLifeMs = 90 * 86_400_000
/** What counts less is forgotten: nobody said it for more than a year. */
const leastWeight = 0.05
const version = 1
const largestFile = 4 * 1024 * 1024

/**
 * Where a project's examples are: below the user's state and readable by the user alone, for they
 * are words that somebody typed. They do not travel with the project.
 */
export function learnedPath({ project, runtime }: ProjectPlace): string {
  const name = `${fileName(realProject(project))}.json`
  return join(userDirectories(runtime).state, 'tool-examples', name)
}

/** The project's examples. A file that cannot be used gives none and a diagnostic. */
export function readLearned(place: ProjectPlace): LearnedReading {
  const path = learnedPath(place)
  const file = readRegularFile(path, { maxBytes: largestFile })
  if (file.ok) return readContent(path, file.text)
  return file.code === 'file-missing'
    ? { examples: [], diagnostics: [] }
    : unusable(path, file.code, file.message)
}

/**
 * Records that a tool was right for a request, or wrong. Many processes may do so at once. Returns
 * what is kept; undefined where the request has no words to learn.
 *
 * @throws {StateFileError} where the file cannot be read: it is never overwritten
 */
export async function learnExample(
  place: ProjectPlace,
  lesson: { request: string; tool: string; wrong?: boolean | undefined },
): Promise<LearnedExample | undefined> {
  const request = keptRequest(lesson.request)
  if (!/[\p{L}\p{N}]/u.test(request)) return undefined
  const { tool, wrong = false } = lesson
  const examples = await change(place, (before) =>
    withLesson(before, { request, tool, wrong }, place.runtime.now()),
  )
  return examples.find((example) => example.tool === tool && example.request === request)
}

/** Forgets the examples that `isMeant` says; returns how many there were. */
export async function forgetExamples(
  place: ProjectPlace,
  isMeant: (example: LearnedExample) => boolean,
): Promise<number> {
  let forgotten = 0
  await change(place, (before) => {
    const kept = before.filter((example) => !isMeant(example))
    forgotten = before.length - kept.length
    return kept
  })
  return forgotten
}

/** As the router takes them. */
export function routeExamples(examples: readonly LearnedExample[], now: number): RouteExample[] {
  return examples.map((example) => {
    const { request, tool, wrong } = example
    return { request, tool, wrong, weight: weightOf(example, now) }
  })
}

/** The requests that were confirmed for a tool, by its id. */
export function confirmedRequests(
  examples: readonly LearnedExample[],
): (tool: string) => readonly string[] {
  const right = examples.filter(({ wrong }) => !wrong)
  const byTool = Map.groupBy(right, ({ tool }) => tool)
  return (tool) => byTool.get(tool)?.map(({ request }) => request) ?? []
}

/** 1 for one of today, half of it after 90 days. A date to come counts as today. */
export function weightOf({ at }: LearnedExample, now: number): number {
  const age = Math.max(0, now - Date.parse(at))
  return Number.isFinite(age) ? 2 ** (-age / halfLifeMs) : 0
}

/** The request as it may be kept; empty where nothing of it can be learned. */
function keptRequest(request: string): string {
  return redactText(request.slice(0, 4 * longestRequest))
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestRequest)
    .replace(/[\ud800-\udbff]$/, '')
}

/** With one more lesson; it takes back the opposite one of the same request and tool. */
function withLesson(
  examples: readonly LearnedExample[],
  lesson: Pick<LearnedExample, 'request' | 'tool' | 'wrong'>,
  now: number,
): LearnedExample[] {
  const isSame = ({ request, tool }: LearnedExample): boolean =>
    tool === lesson.tool && request.toLowerCase() === lesson.request.toLowerCase()
  const before = examples.find((example) => isSame(example) && example.wrong === lesson.wrong)
  const at = new Date(now).toISOString()
  const example = { ...lesson, count: (before?.count ?? 0) + 1, at }
  const counts = new Map<string, number>()
  return [...examples.filter((other) => !isSame(other)), example]
    .map((one) => ({ one, weight: weightOf(one, now) }))
    .filter(({ weight }) => weight >= leastWeight)
    .toSorted((a, b) => b.weight - a.weight || b.one.count - a.one.count)
    .filter(({ one: { tool, wrong } }) => {
      const key = `${wrong} ${tool}`
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count <= mostExamples.ofTool
    })
    .slice(0, mostExamples.ofProject)
    .map(({ one }) => one)
    .toSorted((a, b) => compareText(a.tool, b.tool) || compareText(a.request, b.request))
}

async function change(
  place: ProjectPlace,
  next: (examples: readonly LearnedExample[]) => readonly LearnedExample[],
): Promise<readonly LearnedExample[]> {
  const path = learnedPath(place)
  return await withFileLock(path, async () => {
    const { examples, diagnostics } = readLearned(place)
    const [first] = diagnostics
    if (first !== undefined) {
      const hint = first.hint ?? 'Fix or delete the file, then try again.'
      throw new StateFileError({ code: first.code, message: `${path}: ${first.message}`, hint })
    }
    const changed = next(examples)
    const content = { version, project: realProject(place.project), examples: changed }
    await writeFileAtomic(path, `${JSON.stringify(content, null, 1)}\n`, { mode: 0o600 })
    return changed
  })
}

function readContent(path: string, text: string): LearnedReading {
  const broken = (message: string): LearnedReading =>
    unusable(path, 'examples-unreadable', message, 'Fix it, or delete it to start again.')
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return broken('the file is not JSON')
  }
  if (!isObject(content)) return broken('the file is not a JSON object')
  const { version: found, examples } = content
  if (typeof found === 'number' && found > version) {
    const message = `the file is of version ${found}; this Skillrail knows up to ${version}`
    return unusable(path, 'newer-version', message, 'Use the newer Skillrail that wrote it.')
  }
  if (found !== version || !Array.isArray(examples)) return broken('it holds no list of examples')
  return { examples: examples.flatMap((item: unknown) => readExample(item) ?? []), diagnostics: [] }
}

function readExample(item: unknown): LearnedExample | undefined {
  if (!isObject(item)) return undefined
  const { request, tool, wrong = false, count = 1, at } = item
  const isExample =
    typeof request === 'string' &&
    typeof tool === 'string' &&
    typeof wrong === 'boolean' &&
    typeof count === 'number' &&
    typeof at === 'string'
  return isExample ? { request, tool, wrong, count, at } : undefined
}

function unusable(path: string, code: string, message: string, hint?: string): LearnedReading {
  return { examples: [], diagnostics: [{ code, severity: 'warning', message, path, hint }] }
}
