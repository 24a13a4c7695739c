import type { JsonValue } from '#core/json'

/**
 * The result of a call that failed without an exception, such as an exit code. The model reads
 * `output` like any other result, but no step of a workflow counts as done by it.
 */
export class FailedResult {
  readonly output: JsonValue

  constructor(output: JsonValue) {
    this.output = output
  }
}

export function outputOf(result: JsonValue | FailedResult): JsonValue {
  return result instanceof FailedResult ? result.output : result
}
