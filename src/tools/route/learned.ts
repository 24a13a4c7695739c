import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Zod from 'zod'
import { compareText, type Diagnostic, StateFileError } from '#core/errors'
import { withFileLock } from '#core/file-lock'
import { parseJson } from '#core/json'
import { readRegularFile } from '#core/read-files'
import { redactText } from '#core/redact'
import { userDirectories } from '#core/runtime'
import { writeFileAtomic } from '#core/write-files'
import { fileName, type ProjectPlace, realProject } from '#tools/cache/stored-tools'

export type LearnedExample = Zod.infer<ReturnType<typeof exampleSchema>>

function exampleSchema(z: typeof Zod) {
  return z.object({
    /** Secrets masked, on one line, at most {@link longestRequest} characters. */
    request: z.string(),
    tool: z.string(),
    wrong: z.boolean().default(false),
    count: z.number().default(1),
    at: z.string(),
  })
}

const longestRequest = 300
/** Beyond these the ones that weigh least are forgotten. */
const mostOfTool = 20
const mostOfProject = 1_000

const halfLifeMs = 90 * 86_400_000
/** What counts less is forgotten: nobody said it for more than a year. */
const leastWeight = 0.05
const version = 1
const largestFile = 4 * 1024 * 1024

/** In the user's state and readable by the user alone: they are words that somebody typed. */
export function learnedPath({ project, runtime }: ProjectPlace): string {
  const name = `${fileName(realProject(project))}.json`
  return join(userDirectories(runtime).state, 'tool-examples', name)
}

export function readLearned(place: ProjectPlace): {
  examples: readonly LearnedExample[]
  diagnostics: readonly Diagnostic[]
} {
  const path = learnedPath(place)
  const unusable = (code: string, message: string, hint?: string) => {
    const diagnostic: Diagnostic = { code, severity: 'warning', message, path, hint }
    return { examples: [], diagnostics: [diagnostic] }
  }
  const file = readRegularFile(path, { maxBytes: largestFile })
  if (!file.ok) {
    if (file.code === 'file-missing') return { examples: [], diagnostics: [] }
    return unusable(file.code, file.message)
  }
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const { data } = z
    .object({ version: z.number(), examples: z.array(z.unknown()) })
    .safeParse(parseJson(file.text))
  if (data?.version !== version) {
    const message = `the file is not JSON with a list of examples of version ${version}`
    const hint = 'Use the Skillrail that wrote it, or delete it to start again.'
    const isNewer = data !== undefined && data.version > version
    return unusable(isNewer ? 'newer-version' : 'examples-unreadable', message, hint)
  }
  const schema = exampleSchema(z)
  const examples = data.examples.flatMap((item) => schema.safeParse(item).data ?? [])
  return { examples, diagnostics: [] }
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

export function confirmedRequests(
  examples: readonly LearnedExample[],
): (tool: string) => readonly string[] {
  const right = examples.filter(({ wrong }) => !wrong)
  return (id) => right.flatMap(({ tool, request }) => (tool === id ? [request] : []))
}

/** 1 for one of today, half of it after 90 days. A date to come counts as today. */
export function weightOf({ at }: LearnedExample, now: number): number {
  const age = Math.max(0, now - Date.parse(at))
  return Number.isFinite(age) ? 2 ** (-age / halfLifeMs) : 0
}

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
  const isSame = ({ request, tool }: LearnedExample) =>
    tool === lesson.tool && request.toLowerCase() === lesson.request.toLowerCase()
  const before = examples.find((example) => isSame(example) && example.wrong === lesson.wrong)
  const at = new Date(now).toISOString()
  const example = { ...lesson, count: (before?.count ?? 0) + 1, at }
  const weighed = [...examples.filter((other) => !isSame(other)), example]
    .filter((one) => weightOf(one, now) >= leastWeight)
    .toSorted((a, b) => weightOf(b, now) - weightOf(a, now) || b.count - a.count)
  const ofTool = Map.groupBy(weighed, ({ tool, wrong }) => `${wrong} ${tool}`)
  const kept = new Set([...ofTool.values()].flatMap((list) => list.slice(0, mostOfTool)))
  return weighed
    .filter((one) => kept.has(one))
    .slice(0, mostOfProject)
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
    if (first) {
      const hint = first.hint ?? 'Fix or delete the file, then try again.'
      throw new StateFileError({ code: first.code, message: `${path}: ${first.message}`, hint })
    }
    const changed = next(examples)
    const content = { version, project: realProject(place.project), examples: changed }
    await writeFileAtomic(path, `${JSON.stringify(content, null, 1)}\n`, { mode: 0o600 })
    return changed
  })
}
