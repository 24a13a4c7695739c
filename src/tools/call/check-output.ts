import type { Diagnostic } from '../../base/index.ts'
import type { ToolDefinition, ToolOutcome } from '../model.ts'
import type { SchemaChecker } from './schema-checker.ts'

/** From this many bytes on an answer is checked with an eye on the clock. */
const largeAnswer = 65_536

/**
 * Compares an answer with the output schema that its tool promised. What is wrong is a warning: the
 * answer is there, and a person decides what it is worth.
 */
export async function checkOutput(
  tool: ToolDefinition,
  outcome: ToolOutcome,
  schemas: SchemaChecker,
): Promise<Diagnostic[]> {
  if (tool.outputSchema === undefined) return []
  if (outcome.structured === undefined) {
    return [
      warning('output-not-structured', `${tool.id} promises structured content and sent none`),
    ]
  }
  const { structured, size } = outcome
  const verdict = await schemas.check(tool.outputSchema, structured, size > largeAnswer)
  if (!verdict.checked) {
    return [
      warning(
        'output-schema-unusable',
        `the answer of ${tool.id} was not checked: ${verdict.reason}`,
      ),
    ]
  }
  const wrong = verdict.problems.map(
    ({ path, message }) => `${path.join('.') || 'the whole'} ${message}`,
  )
  return wrong.length === 0
    ? []
    : [
        warning(
          'output-schema-mismatch',
          `the answer of ${tool.id} breaks its own schema: ${wrong.slice(0, 5).join('; ')}`,
        ),
      ]

  function warning(code: string, message: string): Diagnostic {
    return { code, severity: 'warning', message, path: tool.id }
  }
}
