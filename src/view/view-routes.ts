import {
  exitCode,
  type LocalRoute,
  messageOf,
  pageRoute,
  SkillrailError,
  UsageError,
} from '../base/index.ts'
import type { Failure } from './answers/common.ts'
import { asked, type Question, questions } from './questions.ts'
import { shown } from './shown.ts'
import type { ViewWorld } from './world.ts'

/** The page for everybody on this machine, and what it asks for those who have the token. */
export function viewRoutes(world: ViewWorld, page: string): Record<string, LocalRoute> {
  const asking = Object.entries(questions).map(([path, question]) => [
    path,
    questionRoute(world, question),
  ])
  return { '/': pageRoute(page), ...Object.fromEntries(asking) }
}

function questionRoute(world: ViewWorld, question: Question): LocalRoute {
  return {
    method: 'POST',
    async answer(body, response) {
      let status = 200
      let value: unknown
      try {
        value = await question(world, asked(body))
      } catch (error) {
        status = statusOf(error)
        value = shown(failure(error))
      }
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(value))
    },
  }
}

function statusOf(error: unknown): number {
  if (!(error instanceof SkillrailError)) return 500
  if (error instanceof UsageError) return 400
  return error.exitCode === exitCode.notFound ? 404 : 422
}

function failure(error: unknown): Failure {
  if (!(error instanceof SkillrailError)) {
    return { error: { code: 'unexpected', message: messageOf(error) } }
  }
  const { code, message, hint, diagnostics } = error
  return { error: { code, message, hint }, diagnostics }
}
