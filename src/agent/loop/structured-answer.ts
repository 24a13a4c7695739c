import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { schemaProblem } from './check-schema.ts'

export type StructuredAnswer = { ok: true; output: JsonValue } | { ok: false; problem: string }

/** What is added to the instructions, for providers that cannot force a shape themselves. */
export function schemaInstructions(schema: JsonObject): string {
  return [
    'When you are done, answer with one JSON value and nothing else: no prose, no code fence.',
    `It must match this JSON Schema: ${JSON.stringify(schema)}`,
  ].join('\n')
}

/** Reads a final answer as JSON, also out of a code fence, and checks it by its schema. */
export async function readStructured(text: string, schema: JsonObject): Promise<StructuredAnswer> {
  const parsed = parseAnswer(text)
  if (!parsed.ok) return { ok: false, problem: 'it is no JSON' }
  const problem = await schemaProblem(schema, parsed.output)
  return problem === undefined ? parsed : { ok: false, problem }
}

function parseAnswer(text: string): { ok: true; output: JsonValue } | { ok: false } {
  const fenced = fencedText(text)
  const candidates = [text, fenced].filter((candidate) => candidate !== undefined)
  for (const candidate of candidates) {
    try {
      const output: JsonValue = JSON.parse(candidate)
      return { ok: true, output }
    } catch {
      // the next form
    }
  }
  return { ok: false }
}

/** What the first code fence holds. */
function fencedText(text: string): string | undefined {
  const opening = /```(?:json)?[^\S\n]*\n/.exec(text)
  if (opening === null) return undefined
  const rest = text.slice(opening.index + opening[0].length)
  const closing = /\n[^\S\n]*```/.exec(rest)
  return closing === null ? undefined : rest.slice(0, closing.index).trim()
}
