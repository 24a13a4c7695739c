import type { Diagnostic } from '../../base/index.ts'
import type { ToolDefinition, ToolOutcome } from '../model.ts'
import type { SchemaChecker } from './schema-checker.ts'

/** From this many bytes on an answer is checked with an eye on the clock. */
const largeAnswer = 65_536

/**
 * What is wrong with an answer: parts that cannot be used, and what breaks the output schema that its
 * tool promised. It is a warning: the answer is there, and a person decides what it is worth.
 */
export async function checkOutput(
  tool: ToolDefinition,
  outcome: ToolOutcome,
  schemas: SchemaChecker,
): Promise<Diagnostic[]> {
  const found = [...brokenParts(tool, outcome), ...(await schemaBreaches(tool, outcome, schemas))]
  return found.map(([code, message]) => ({ code, severity: 'warning', message, path: tool.id }))
}

type Finding = readonly [code: string, message: string]

function brokenParts(tool: ToolDefinition, { problems = [] }: ToolOutcome): Finding[] {
  return problems.map(({ code, message }) => [code, `the answer of ${tool.id}: ${message}`])
}

async function schemaBreaches(
  { id, outputSchema }: ToolDefinition,
  { structured, size }: ToolOutcome,
  schemas: SchemaChecker,
): Promise<Finding[]> {
  if (outputSchema === undefined) return []
  if (structured === undefined) {
    return [['output-not-structured', `${id} promises structured content and sent none`]]
  }
  const verdict = await schemas.check(outputSchema, structured, size > largeAnswer)
  if (!verdict.checked) {
    return [['output-schema-unusable', `the answer of ${id} was not checked: ${verdict.reason}`]]
  }
  const wrong = verdict.problems.map(
    ({ path, message }) => `${path.join('.') || 'the whole'} ${message}`,
  )
  if (wrong.length === 0) return []
  const breaches = wrong.slice(0, 5).join('; ')
  return [['output-schema-mismatch', `the answer of ${id} breaks its own schema: ${breaches}`]]
}
