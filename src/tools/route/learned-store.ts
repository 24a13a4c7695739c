import { join } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { StateFileError } from '../../core/errors.ts'
import { userDirectories } from '../../core/runtime.ts'
import { withFileLock } from '../../core/file-lock.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import { fileName, type ProjectPlace, realProject } from '../cache/places.ts'
import { keptRequest, type LearnedExample, type Lesson, withLesson } from './learned-example.ts'

export interface LearnedReading {
  examples: readonly LearnedExample[]
  diagnostics: readonly Diagnostic[]
}

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
  if (!file.ok) {
    const diagnostics = file.code === 'file-missing' ? [] : [problem(path, file.code, file.message)]
    return { examples: [], diagnostics }
  }
  return readContent(path, file.text)
}

/**
 * Records that a tool was right for a request, or wrong. Many processes may do so at once. Returns
 * what is kept; undefined where the request has no words to learn.
 *
 * @throws {StateFileError} where the file cannot be read: it is never overwritten
 */
export async function learnExample(
  place: ProjectPlace,
  lesson: Lesson,
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

async function change(
  place: ProjectPlace,
  next: (examples: readonly LearnedExample[]) => readonly LearnedExample[],
): Promise<readonly LearnedExample[]> {
  const path = learnedPath(place)
  return await withFileLock(path, async () => {
    const { examples, diagnostics } = readLearned(place)
    const [first] = diagnostics
    if (first !== undefined) {
      throw new StateFileError({
        code: first.code,
        message: `${path}: ${first.message}`,
        hint: first.hint ?? 'Fix or delete the file, then try again.',
      })
    }
    const changed = next(examples)
    const content = { version, project: realProject(place.project), examples: changed }
    await writeFileAtomic(path, `${JSON.stringify(content, null, 1)}\n`, { mode: 0o600 })
    return changed
  })
}

function readContent(path: string, text: string): LearnedReading {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return broken(path, 'the file is not JSON')
  }
  if (!isRecord(content)) return broken(path, 'the file is not a JSON object')
  const found = content['version']
  if (typeof found === 'number' && found > version) {
    const message = `the file is of version ${found}; this Skillrail knows up to ${version}`
    const hint = 'Use the newer Skillrail that wrote it.'
    return { examples: [], diagnostics: [{ ...problem(path, 'newer-version', message), hint }] }
  }
  const list = content['examples']
  if (found !== version || !Array.isArray(list)) return broken(path, 'it holds no list of examples')
  return { examples: list.flatMap((item: unknown) => readExample(item) ?? []), diagnostics: [] }
}

function readExample(item: unknown): LearnedExample | undefined {
  if (!isRecord(item)) return undefined
  const { request, tool, wrong = false, count = 1, at } = item
  const isExample =
    typeof request === 'string' &&
    typeof tool === 'string' &&
    typeof wrong === 'boolean' &&
    typeof count === 'number' &&
    typeof at === 'string'
  return isExample ? { request, tool, wrong, count, at } : undefined
}

function broken(path: string, message: string): LearnedReading {
  const hint = 'Fix it, or delete it to start again.'
  return { examples: [], diagnostics: [{ ...problem(path, 'examples-unreadable', message), hint }] }
}

function problem(path: string, code: string, message: string): Diagnostic {
  return { code, severity: 'warning', message, path }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
