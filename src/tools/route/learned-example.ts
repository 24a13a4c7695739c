import { compareText } from '../../core/diagnostic.ts'
import { redactText } from '../../core/redact.ts'
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

/** What is to be learned. */
export interface Lesson {
  request: string
  /** Id of the tool. */
  tool: string
  /** The tool was wrong for the request. Default false. */
  wrong?: boolean | undefined
}

export const longestRequest = 300
/** Beyond these the ones that weigh least are forgotten. */
export const mostExamples = { ofTool: 20, ofProject: 1_000 } as const

const day = 86_400_000
/** After so long an example counts half. */
const halfLife = 90 * day
/** What counts less is forgotten: nobody said it for more than a year. */
const leastWeight = 0.05

/** The request as it may be kept; empty where nothing of it can be learned. */
export function keptRequest(request: string): string {
  return redactText(request.slice(0, 4 * longestRequest))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestRequest)
    .replace(/[\ud800-\udbff]$/, '')
}

/**
 * The examples with one more lesson, in their one order. A lesson takes back the opposite one of
 * the same request and tool. Pure; what has faded or is too much is left out.
 */
export function withLesson(
  examples: readonly LearnedExample[],
  lesson: Lesson & { wrong: boolean },
  now: number,
): LearnedExample[] {
  const isSame = ({ request, tool }: LearnedExample): boolean =>
    tool === lesson.tool && fold(request) === fold(lesson.request)
  const before = examples.find((example) => isSame(example) && example.wrong === lesson.wrong)
  const example: LearnedExample = {
    request: lesson.request,
    tool: lesson.tool,
    wrong: lesson.wrong,
    count: (before?.count ?? 0) + 1,
    at: new Date(now).toISOString(),
  }
  return bounded([...examples.filter((other) => !isSame(other)), example], now)
}

/** As the router takes them. */
export function routeExamples(examples: readonly LearnedExample[], now: number): RouteExample[] {
  return examples.map((example) => ({
    request: example.request,
    tool: example.tool,
    wrong: example.wrong,
    weight: weightOf(example, now),
  }))
}

/** 1 for one of today, half of it after {@link halfLife}. A date to come counts as today. */
export function weightOf({ at }: LearnedExample, now: number): number {
  const age = Math.max(0, now - Date.parse(at))
  return Number.isFinite(age) ? 2 ** (-age / halfLife) : 0
}

function bounded(examples: readonly LearnedExample[], now: number): LearnedExample[] {
  const counts = new Map<string, number>()
  return examples
    .map((example) => ({ example, weight: weightOf(example, now) }))
    .filter(({ weight }) => weight >= leastWeight)
    .toSorted((a, b) => b.weight - a.weight || b.example.count - a.example.count)
    .filter(({ example: { tool, wrong } }) => {
      const key = `${String(wrong)} ${tool}`
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count <= mostExamples.ofTool
    })
    .slice(0, mostExamples.ofProject)
    .map(({ example }) => example)
    .toSorted((a, b) => compareText(a.tool, b.tool) || compareText(a.request, b.request))
}

function fold(request: string): string {
  return request.toLowerCase()
}
